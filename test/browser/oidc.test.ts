/**
 * Signing in at a real OpenID provider in a real browser (DS-119 to DS-127): the whole way there and back, groups, sign-out
 * at both, the back button, saying no, and coming back twice.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { TestBrowser } from '../support/browser.ts';
import { freePort, OpenIdProvider } from '../support/openid-provider.ts';
import { patienceFor } from '../support/patience.ts';
import { type Service, startService } from '../support/service.ts';

const CLIENT = { clientId: 'svc', clientSecret: 'a secret of the tests' };

let svc: Service;
let provider: OpenIdProvider;
let browser: TestBrowser;

beforeAll(async () => {
  const port = freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  provider = await OpenIdProvider.start({ ...CLIENT, publicUrl });
  svc = await startService({
    files: { 'shop/products.csv': 'name\nbread\n', 'secret.csv': 'n\n1\n' },
    args: ['--port', String(port)],
    config: {
      public_url: publicUrl,
      oidc: { issuer: provider.issuer, client_id: CLIENT.clientId },
    },
    env: { SVC_OIDC_CLIENT_SECRET: CLIENT.clientSecret },
  });
  await svc.accounts.grantGroup('shop', 'shop/*', 'read');
  // The provider's pages name a font of another site.
  const args = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  browser = await TestBrowser.start({ args });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const openPage = (): Promise<Page> => browser.open(svc);

const offer = (page: Page) => page.getByRole('link', { name: 'Sign in with your organisation' });

/** From the sign-in page to the provider's question whether svc may know who one is. */
async function reachConsent(page: Page, login: string, next = '/'): Promise<void> {
  await page.goto(`${svc.url}/auth/login?next=${encodeURIComponent(next)}`);
  await offer(page).click();
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('anything');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).waitFor();
}

async function signIn(page: Page, login: string, next = '/'): Promise<void> {
  await reachConsent(page, login, next);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(svc.url + next);
}

/** A later sign-in of a browser whose provider still knows it. */
async function signInAgain(page: Page): Promise<void> {
  await page.goto(`${svc.url}/auth/login`);
  await offer(page).click();
  await page.waitForURL(`${svc.url}/`);
}

const cookieNames = async (page: Page) =>
  (await page.context().cookies(svc.url))
    .map(({ name }) => name)
    .filter((n) => n.startsWith('svc'));

test('the sign-in page offers the provider beside the password, and fits a phone', async () => {
  const page = await openPage();
  await page.setViewportSize({ width: 320, height: 600 });
  await page.goto(`${svc.url}/auth/login`);
  await soon(() => page.getByLabel('Password').count()).toBe(1);
  await soon(() => offer(page).count()).toBe(1);
  await soon(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
});

test('sign in: the account is made, its groups open its files, and the page asked for is shown', async () => {
  await provider.setClaims('ada', { groups: ['shop'] });
  const page = await openPage();
  await signIn(page, 'ada', '/ui/shop/products/');
  await page.getByText('bread').first().waitFor();
  expect((await page.goto(`${svc.url}/api/secret/`))?.status()).toBe(403);
  await page.goto(`${svc.url}/profile`);
  await page.getByText('You sign in with your organisation').waitFor();
  expect(await page.getByRole('textbox', { name: /password/i }).count()).toBe(0);
  expect(await page.locator('main input[type=password]').count()).toBe(0);
  const me = await page.goto(`${svc.url}/auth/me`);
  expect(await me?.json()).toMatchObject({ username: 'ada', is_superuser: false });
  expect((await cookieNames(page)).sort()).toEqual(['svc_csrf', 'svc_session']);
});

test('groups and the superuser role follow the provider with each sign-in', async () => {
  await svc.accounts.user('somebody else', { superuser: true });
  await provider.setClaims('bob', { groups: ['/shop', 'svc-admin'] });
  const page = await openPage();
  await signIn(page, 'bob');
  const isSuperuser = async () =>
    (await (await page.goto(`${svc.url}/auth/me`))?.json())?.is_superuser;
  expect(await isSuperuser()).toBe(true);
  await provider.setClaims('bob', { groups: [] });
  await signInAgain(page);
  expect(await isSuperuser()).toBe(false);
  expect((await page.goto(`${svc.url}/api/shop/products/`))?.status()).toBe(403);
});

test('sign out ends the session here and there, and comes back to the sign-in page', async () => {
  const page = await openPage();
  await signIn(page, 'cleo');
  const before = await page.context().cookies(svc.url);
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${provider.issuer}/session/end**`);
  await page.getByRole('button', { name: /sign me out/i }).click();
  await page.waitForURL(`${svc.url}/auth/login**`);
  expect(await cookieNames(page)).not.toContain('svc_session');
  await page.context().addCookies(before);
  expect((await page.goto(`${svc.url}/auth/me`))?.url()).toContain('/auth/login');
  await page.goto(`${svc.url}/auth/login`);
  await offer(page).click();
  await page.locator('input[name=login]').waitFor();
});

test('going back after signing in shows no error and no secret, and changes nothing', async () => {
  const page = await openPage();
  await signIn(page, 'dora');
  await page.goBack();
  await page.goto(`${svc.url}/`);
  await soon(() => page.getByRole('button', { name: 'Your account' }).count()).toBe(1);
  expect((await (await page.goto(`${svc.url}/auth/me`))?.json())?.username).toBe('dora');
});

test('saying no leads to the sign-in page with the reason, and the next try works', async () => {
  const page = await openPage();
  await reachConsent(page, 'emil');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL(`${svc.url}/auth/oidc/callback**`);
  await soon(() => page.getByRole('alert').textContent()).toBe('access_denied');
  await soon(() => page.getByLabel('Password').count()).toBe(1);
  expect(await cookieNames(page)).not.toContain('svc_session');
  await offer(page).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${svc.url}/`);
});

test('the address of a sign-in is good once, and for the browser that began it only', async () => {
  const page = await openPage();
  const seen: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(`${svc.url}/auth/oidc/callback`)) seen.push(request.url());
  });
  await signIn(page, 'finn');
  const [address] = seen;
  const again = await page.goto(address!);
  expect(again?.status()).toBe(400);
  const stranger = await openPage();
  const stolen = await stranger.goto(address!);
  expect(stolen?.status()).toBe(400);
  expect(await cookieNames(stranger)).not.toContain('svc_session');
  expect((await (await page.goto(`${svc.url}/auth/me`))?.json())?.username).toBe('finn');
});

test('two tabs of one browser: the one begun last ends signed in, the other is refused', async () => {
  const first = await openPage();
  await reachConsent(first, 'gina');
  const second = await first.context().newPage();
  second.setDefaultTimeout(patienceFor(15_000));
  await second.goto(`${svc.url}/auth/oidc/login`);
  await second.getByRole('button', { name: 'Continue' }).click();
  await second.waitForURL(`${svc.url}/`);
  await first.getByRole('button', { name: 'Continue' }).click();
  await first.waitForLoadState();
  await soon(() => first.getByRole('alert').count()).toBe(1);
  expect((await (await second.goto(`${svc.url}/auth/me`))?.json())?.username).toBe('gina');
});

test('an access token of the provider is a credential of the API', async () => {
  await provider.setClaims('hugo', { groups: ['shop'] });
  const token = await accessToken('hugo');
  const headers = { Authorization: `Bearer ${token}` };
  expect(await (await svc.fetch('/auth/me', { headers })).json()).toMatchObject({
    username: 'hugo',
  });
  expect((await svc.fetch('/api/shop/products/', { headers })).status).toBe(200);
  expect((await svc.fetch('/api/secret/', { headers })).status).toBe(403);
  const broken = { Authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` };
  expect((await svc.fetch('/auth/me', { headers: broken })).status).toBe(401);
});

/** Walks the code flow as another program registered at the provider would. */
async function accessToken(login: string): Promise<string> {
  const page = await openPage();
  const verifier = 'v'.repeat(43);
  const challenge = new Bun.CryptoHasher('sha256').update(verifier).digest('base64url');
  const redirectUri = `${svc.url}/auth/oidc/callback`;
  const query = new URLSearchParams({
    client_id: CLIENT.clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid profile',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  await page.goto(`${provider.issuer}/auth?${query}`);
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('anything');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${redirectUri}**`);
  const code = new URL(page.url()).searchParams.get('code')!;
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(
        [CLIENT.clientId, CLIENT.clientSecret].map(encodeURIComponent).join(':'),
      )}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
