/** How a file is read, chosen in the browser with a live preview and without script (DS-228). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'old.csv': Buffer.from(`Stra\xe1e;n\n${MARKUP};1\n`, 'latin1'),
      'colons.csv': 'a:b\n1:2\n',
      'single.csv': 'Notes, all of them\na;b\n1;2\n',
    },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('a file that cannot be read shows its lines; a choice shows at once what it makes', async () => {
  const page = await openAs(browser, svc, 'ada', { viewport: { width: 320, height: 700 } });
  await page.goto('/ui/old/');
  await page.getByRole('heading', { name: 'How old.csv is read' }).waitFor();
  await page.getByRole('cell', { name: MARKUP }).first().waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.getByLabel('Encoding').selectOption('cp850');
  await page.getByRole('columnheader', { name: 'Straße' }).waitFor();
  await soon(() => page.url()).toContain('encoding=cp850');
  expect(await accessibilityProblems(page)).toEqual([]);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(320);
  await page.getByLabel('Type of n').selectOption('string');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/ui/old/');
  await page.getByText('Straße').first().waitFor();
  const saved = (name: string) => readFileSync(join(svc.docroot, '.svc', name), 'utf8');
  expect(JSON.parse(saved('old.csv.options.json'))).toEqual({ encoding: 'cp850' });
  expect(JSON.parse(saved('old.csv.schema.json'))).toMatchObject({
    columns: { n: { type: 'string' } },
  });
  await page.context().close();
});

test('a file of one column leads there, and without script all of it works', async () => {
  const page = await openAs(browser, svc, 'ada', { javaScriptEnabled: false, colorScheme: 'dark' });
  await page.goto('/ui/colons/');
  await page.getByRole('link', { name: 'See its lines and choose' }).click();
  await page.getByLabel('Line of the names').fill('2');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('columnheader', { name: '1:2' }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/ui/colons/');
  await page.goto('/ui/colons/?layout=1');
  await page.getByRole('button', { name: 'Forget what was saved' }).click();
  await page.waitForURL('**/ui/colons/');
  await page.getByRole('link', { name: 'a:b' }).waitFor();
  await page.context().close();
});

test('a wrong choice keeps the form and says what is wrong', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/ui/single/?layout=1');
  await page.getByLabel('Line of the names').fill('zwei');
  await page.getByText('"header_row" must be an integer from 1 on').waitFor();
  await page.getByLabel('Line of the names').fill('2');
  await page.getByText('2 columns, utf-8, semicolon, names in line 2').waitFor();
  await page.context().close();
});
