/** What people see when something is refused or fails (DS-13, DS-14): every status in the frame, with what to do. */
import { expect, test } from 'bun:test';
import { AppError, type ErrorCode } from '../../src/base/errors.ts';
import type { TestRoute } from './server-fixture.ts';
import { startFixture } from './server-fixture.ts';

const HTML = { Accept: 'text/html' };

function failing(name: string, error: () => unknown): TestRoute {
  const fail = (): never => {
    throw error();
  };
  return { pattern: `/fails/${name}`, access: 'public', methods: { GET: fail, POST: fail } };
}

const CASES: readonly (readonly [code: ErrorCode, status: number, title: string])[] = [
  ['permission-denied', 403, 'You may not open this'],
  ['not-found', 404, 'Nothing here'],
  ['method-not-allowed', 405, 'This does not work here'],
  ['conflict', 409, 'Somebody was faster'],
  ['too-large', 413, 'Too large'],
  ['unreadable-file', 422, 'Something in the request is wrong'],
  ['throttled', 429, 'Too many attempts'],
  ['unavailable', 503, 'Not available right now'],
];

test('every refusal is a page with its text, what to do and the request id', async () => {
  const routes = CASES.map(([code]) => failing(code, () => new AppError(code, `Text of ${code}`)));
  await using server = await startFixture({ routes });
  for (const [code, status, title] of CASES) {
    const response = await server.fetch(`/fails/${code}`, { headers: HTML });
    const page = await response.text();
    expect([code, response.status]).toEqual([code, status]);
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(page).toContain(`Text of ${code}`);
    expect(page).toContain(`<code>${response.headers.get('x-request-id')}</code>`);
    expect(page).toMatch(/<p>[A-Z][^<]{20,}/);
    expect(page).toMatch(/<a class="button" href="(?:\/|\/auth\/login|)">/);
  }
});

test('a plain form that is refused is answered by the same page, which does not offer to send it again', async () => {
  const cases = [...CASES, ['internal', 500, 'Something went wrong on our side']] as const;
  const routes = cases.map(([code]) => failing(code, () => new AppError(code, `Text of ${code}`)));
  await using server = await startFixture({ routes });
  for (const [code, status, title] of cases) {
    const response = await server.fetch(`/fails/${code}`, {
      method: 'POST',
      headers: { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'name=value',
    });
    const page = await response.text();
    expect([code, response.status]).toEqual([code, status]);
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(page).toContain('<header class="banner">');
    expect(page).toContain(`<code>${response.headers.get('x-request-id')}</code>`);
    expect(page).not.toContain('Try again</a>');
  }
});

test('a failure of ours says nothing of its cause', async () => {
  const routes = [failing('bug', () => new Error('secret cause at /home/somebody'))];
  await using server = await startFixture({ routes });
  const response = await server.fetch('/fails/bug', { headers: HTML });
  const page = await response.text();
  expect(response.status).toBe(500);
  expect(page).toContain('Something went wrong on our side');
  expect(page).toContain(String(response.headers.get('x-request-id')));
  expect(page).toContain('Try again');
  expect(page).not.toContain('secret');
});

test('who has to wait is told how long', async () => {
  const waiting = (seconds: string) =>
    new AppError('throttled', 'Slow down', { headers: { 'Retry-After': seconds } });
  const routes = [failing('soon', () => waiting('40')), failing('later', () => waiting('601'))];
  await using server = await startFixture({ routes });
  const page = async (path: string) => (await server.fetch(path, { headers: HTML })).text();
  expect(await page('/fails/soon')).toContain('Try again in 40 seconds.');
  expect(await page('/fails/later')).toContain('Try again in 11 minutes.');
});

test('whoever is signed in reads as whom, and is not asked to sign in', async () => {
  const routes = [failing('no', () => new AppError('permission-denied', 'No'))];
  await using server = await startFixture({ routes });
  const { cookie } = await server.session('anna');
  const page = await (
    await server.fetch('/fails/no', { headers: { ...HTML, Cookie: cookie } })
  ).text();
  expect(page).toContain('You are signed in as <strong>anna</strong>');
  expect(page).not.toContain('href="/auth/login"');
});

test('DS-114 a form that comes from an address the server does not know is told so, with the setting that names it', async () => {
  await using server = await startFixture();
  const response = await server.fetch('/auth/login', {
    method: 'POST',
    headers: {
      ...HTML,
      Origin: 'https://svc.example:8443',
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: 'username=anna&password=x',
  });
  const page = await response.text();
  expect(response.status).toBe(403);
  expect(page).toContain('<h1>This form came from another address</h1>');
  expect(page).toContain('<code>public_url</code>');
  expect(page).not.toContain('older than your sign-in');
});

test('DS-114 a form that is older than the sign-in is told so, and not that a right is missing', async () => {
  await using server = await startFixture();
  const { cookie } = await server.session('anna');
  const session = cookie.split('; ').find((pair) => pair.startsWith('svc_session='))!;
  const response = await server.fetch('/profile', {
    method: 'POST',
    headers: {
      ...HTML,
      Cookie: `${session}; svc_csrf=${'x'.repeat(43)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: `action=revoke-token&csrf_token=${'x'.repeat(43)}`,
  });
  const page = await response.text();
  expect(response.status).toBe(403);
  expect(page).toContain('<h1>This form is out of date</h1>');
  expect(page).toContain('Invalid CSRF token');
  expect(page).toContain(`<code>${response.headers.get('x-request-id')}</code>`);
  expect(page).not.toContain('If you need access');
});
