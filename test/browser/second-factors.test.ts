/** Second factors in the browser: a passkey of Chromium's virtual authenticator, an app by its QR code (DS-310, DS-311). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.createSuperuser('ada');
  browser = await TestBrowser.start();
  // Passkeys belong to a name.
  page = await browser.open({ url: svc.url.replace('127.0.0.1', 'localhost') });
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function signIn(): Promise<void> {
  await page.goto('/auth/login?next=/profile');
  await page.getByLabel('User name').fill('ada');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
const signOut = (): Promise<void> => page.context().clearCookies();
const section = () => page.locator('section', { has: page.locator('#second-factor') });

test('a passkey is added, asked for after the password, and signs in alone', async () => {
  await signIn();
  await page.waitForURL('**/profile');
  await section().getByText('Add one').click();
  await section().getByLabel('Name').fill('This computer');
  await section().getByLabel('Your password').fill('wrong');
  await section().getByRole('button', { name: 'Add a passkey' }).click();
  await section().getByText('Your password is incorrect').waitFor();
  await section().getByLabel('Your password').fill(PASSWORD);
  await section().getByRole('button', { name: 'Add a passkey' }).click();
  const codes = section().locator('#new-recovery-codes pre');
  await soon(() => codes.textContent()).toMatch(/^(?:[a-z0-9]{5}-[a-z0-9]{5}\n?){10}$/);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'I have kept them' }).click();
  await section().getByText('This computer').waitFor();

  await signOut();
  await signIn();
  await page.waitForURL('**/auth/second?next=*');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL('**/profile');
  await page.getByRole('cell', { name: 'a password and a second factor' }).first().waitFor();

  await signOut();
  await page.goto('/auth/login?next=/profile');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL('**/profile');
  await page.getByRole('cell', { name: 'a passkey', exact: true }).waitFor();
});

test('an app is added by what its picture says', async () => {
  await section().getByText('Add one').click();
  await section().getByLabel('Name').fill('My phone');
  await section().locator('details[open]').getByLabel('Your password').fill(PASSWORD);
  await section().getByRole('button', { name: 'Add an authenticator app' }).click();
  await section().getByRole('img', { name: 'QR code of the key' }).locator('svg').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  const key = (await section().locator('code').textContent())!.replaceAll(' ', '');
  const code = new TOTP({ secret: Secret.fromBase32(key) }).generate();
  await section().getByRole('textbox', { name: 'Code' }).fill(code);
  await section().getByRole('button', { name: 'Add it' }).click();
  await section().getByText('My phone').waitFor();
  // The refused password is a 400, which the console reports.
  expect(browser.reports.filter((report) => !report.includes('status of 400'))).toEqual([]);
});
