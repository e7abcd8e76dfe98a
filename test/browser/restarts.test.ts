/**
 * The server goes away and comes back while somebody watches events live or sends a file: nothing is missed, nothing comes twice,
 * nothing is half done, and the page says how it stands (EV-78, DS-154).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { limitUploads, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const FILE_BYTES = 1_500_000;
/** At this rate the file takes long enough for the server to go away meanwhile. */
const SLOW_BYTES_PER_SECOND = 100_000;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.user('ada', { superuser: true });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function send(...texts: readonly string[]): Promise<void> {
  const response = await (
    await svc.as('ada')
  ).fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(texts.map((data) => ({ host: 'lamp', sourcetype: 'text', data }))),
  });
  expect(response.status).toBe(201);
}

const shown = (): Promise<string[]> => page.locator('#tail .line').allInnerTexts();
const status = () => page.locator('#tail-status').innerText();

// The first time before any event came, when there is no last one to go on from.
test.each([
  ['that has shown nothing yet', [], ['two', 'one']],
  ['that has shown some', ['three'], ['five', 'four', 'three']],
] as const)('a live tail %s goes on after a restart of the server', async (_, before, after) => {
  await page.goto('/events?q=host%3Dlamp&live=1');
  await soon(status).toBe('Waiting for new events…');
  // The stream stands: what is sent from now on has to come.
  for (const text of before) await send(text);
  await soon(shown).toEqual([...before]);
  await svc.kill();
  await soon(status).toBe('The connection was lost; trying again…');
  await svc.start();
  for (const text of after.slice(0, after.length - before.length).toReversed()) await send(text);
  await soon(shown).toEqual([...after]);
  await soon(status).toMatch(
    /^\d new events?, newest first\. The connection was lost for \d+ seconds?; what came meanwhile is here\.$/,
  );
  await page.getByRole('button', { name: 'Stop watching' }).click();
});

test('a proxy that answers for a server that is away does not end the tail', async () => {
  await page.goto('/events?q=host%3Dlamp');
  let refusals = 0;
  await page.route('**/api/events/tail*', (route) =>
    ++refusals < 4 ? route.fulfill({ status: 503, body: 'starting' }) : route.continue(),
  );
  await page.getByRole('button', { name: 'Watch live' }).click();
  await soon(status).toBe('The connection was lost; trying again…');
  await send('six');
  await soon(shown).toEqual(['six']);
  await page.unroute('**/api/events/tail*');
  await page.getByRole('button', { name: 'Stop watching' }).click();
});

const files = (): string[] => readdirSync(svc.docroot).filter((name) => name !== '.svc');

test('an upload that breaks off stores nothing and is sent again with a click', async () => {
  await page.goto('/');
  const form = page.locator('form[action="/api/uploads"]');
  const told = form.getByRole('status');
  await limitUploads(page, SLOW_BYTES_PER_SECOND);
  await form.getByLabel('File').setInputFiles({
    name: 'chosen.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`n\n${'1\n'.repeat(FILE_BYTES / 2)}`),
  });
  await form.getByLabel('Save as').fill('kept.csv');
  await form.getByRole('button', { name: 'Upload' }).click();
  await told.getByText(/^[1-9]\d? % sent$/).waitFor();
  await svc.kill('SIGKILL');
  await soon(() => told.innerText()).toBe(
    'The connection was lost before all was sent; nothing was stored. The file is still chosen: Upload sends it again.',
  );
  expect(files()).toEqual(['a.csv']);
  await svc.start();
  expect(files()).toEqual(['a.csv']);
  await limitUploads(page, -1);
  await form.getByRole('button', { name: 'Upload' }).click();
  await told.getByText('kept.csv was created.').waitFor();
  expect(readFileSync(join(svc.docroot, 'kept.csv'), 'utf8')).toHaveLength(FILE_BYTES + 2);
  expect(files().toSorted()).toEqual(['a.csv', 'kept.csv']);
});

test('an upload whose answer is lost says that it may be there, and is sent again with a click', async () => {
  await page.goto('/');
  const form = page.locator('form[action="/api/uploads"]');
  const told = form.getByRole('status');
  // It takes the connection and answers nothing.
  process.kill(svc.pid, 'SIGSTOP');
  await form.getByLabel('File').setInputFiles({
    name: 'unsure.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('n\n7\n'),
  });
  await form.getByRole('button', { name: 'Upload' }).click();
  await soon(() => told.innerText()).toBe('Sent; it is being read.');
  await svc.kill('SIGKILL');
  await soon(() => told.innerText()).toBe(
    'The connection was lost before the answer came. The list shows whether the file is there; if it is not, Upload sends it again.',
  );
  await svc.start();
  await form.getByRole('button', { name: 'Upload' }).click();
  await told.getByText('unsure.csv was created.').waitFor();
  expect(readFileSync(join(svc.docroot, 'unsure.csv'), 'utf8')).toBe('n\n7\n');
});

test('nothing was reported but connections that were lost, and no other server asked', () => {
  const expected =
    /^error: Failed to load resource: (?:net::ERR_|the server responded with a status of 503)/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});
