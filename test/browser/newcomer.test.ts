/**
 * What a newcomer tries before reading anything: a server without accounts, an old link, Enter in the query, saving a search
 * that was not run, arrows on a page of rows, a chart of whatever comes first, a word the palette does not know.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `c${at},${at % 2 === 0 ? 'red' : 'blue'}`);
  svc = await startService({ files: { 'cups.csv': `code,colour\n${lines.join('\n')}\n` } });
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('a server without accounts says where the first one comes from, also after the link', async () => {
  const page = await browser.open(svc);
  await page.goto('/auth/login');
  await page.getByText('Nobody has an account yet.').waitFor();
  const late = await page.goto('/auth/setup?token=old');
  expect(late!.status()).toBe(403);
  const problem = await page.getByRole('alert').innerText();
  expect(problem).toContain('Setup token is not valid. It is good for fifteen minutes.');
  expect(problem).toContain('svc addsuperuser');
  await page.context().close();
  await svc.createSuperuser('ada');
});

test('a query runs with Enter, and is saved as it stands in the field', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/events');
  await page.getByRole('link', { name: 'log shipper', exact: true }).waitFor();
  await page.locator('.editor .cm-content').click();
  await page.keyboard.type('level=error');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=level%3Derror/);
  await page.locator('.editor .cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' host=web-1');
  await page.keyboard.press('Escape');
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name').fill('Errors of one');
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await page.goto('/savedsearches');
  const saved = page.locator('li.card', { hasText: 'Errors of one' });
  await soon(async () => (await saved.locator('pre').innerText()).trim()).toBe(
    'level=error host=web-1 earliest=-24h',
  );
  await page.context().close();
});

test('arrows lead into the rows, and the first chart is of a column whose values repeat', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/ui/cups/');
  await page.locator('#grid-0-0').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=grid]:focus').waitFor();
  await page.getByRole('button', { name: 'Chart', exact: true }).click();
  await page.waitForURL(/chart=bar&x=colour/);
  await page.context().close();
});

test('a filter takes its line from the rows: the page does not begin to scroll', async () => {
  const page = await browser.open(svc, { viewport: { width: 1280, height: 850 } });
  await signIn(page, 'ada');
  await page.goto(`/ui/cups/?filter=${encodeURIComponent('{"colour":"red"}')}`);
  await page.getByRole('button', { name: /^Remove the filter/ }).waitFor();
  await page.locator('#grid-0-0').waitFor();
  const fits = 'document.documentElement.scrollHeight <= innerHeight';
  await soon(() => page.evaluate(fits)).toBe(true);
  await page.context().close();
});

test('a word the palette does not know is searched for', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zebra');
  await page.getByText('Nothing here is called so.').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=zebra/);
  await page.context().close();
});

test('a new account leads to giving it access; who may not administer is told as whom he is signed in', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/admin/');
  const { stdout } = await svc.command(['version']);
  const build = stdout.trim().replace('svc ', '');
  await soon(() => page.getByText(build, { exact: true }).count()).toBe(1);
  await page.goto('/admin/ui/share?resource=cups');
  await page.getByRole('link', { name: 'Make an account first' }).click();
  await page.getByLabel('User name').fill('bob');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the user' }).click();
  await page.getByRole('link', { name: 'give access to a file or folder' }).click();
  await soon(() => page.getByLabel('User or group').inputValue()).toBe('bob');
  await page.context().close();

  const other = await browser.open(svc);
  await signIn(other, 'bob');
  await other.goto('/admin/');
  const told = await other.locator('.notice').innerText();
  expect(told).toContain('You are signed in as bob, who may not open that page.');
  await other.context().close();
});

test('where uploads are off, the one who could allow them is told so', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/');
  await page.getByRole('link', { name: 'How to allow them' }).click();
  await page.getByRole('heading', { name: 'Uploads' }).waitFor();
  await page.context().close();
  // The browser reports the answer to the old link.
  expect(browser.reports.filter((text) => !text.includes('status of 403'))).toEqual([]);
});
