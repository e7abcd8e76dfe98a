/**
 * Uploading on the start page with a browser: progress that can be stopped, files dropped on the form, and what is refused
 * before anything is sent (DS-153 to DS-155, DS-183).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { limitUploads, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const LIMIT_BYTES = 3_000_000;
/** At this rate the largest file takes long enough to be watched and stopped. */
const SLOW_BYTES_PER_SECOND = 100_000;

let svc: Service;
let browser: TestBrowser;
let page: Page;
let form: Locator;
let status: Locator;

beforeAll(async () => {
  svc = await startService({
    files: { 'shown.csv': 'n\n1\n' },
    config: { upload: { enabled: true, max_size_bytes: LIMIT_BYTES } },
  });
  await svc.accounts.user('ada', { password: PASSWORD });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  await svc.accounts.grant('ada', '', 'write');
  browser = await TestBrowser.start();
  page = await browser.open(svc);
  await signIn(page, 'ada');
  form = page.locator('form[action="/api/uploads"]');
  status = form.getByRole('status');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const choose = (name: string, content: string | Buffer): Promise<void> =>
  form
    .getByLabel('File')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content as string) });

const filesThere = (): string[] =>
  readdirSync(svc.docroot).filter((name) => name !== '.svc' && name !== 'shown.csv');

test('a chosen file suggests its name, is sent, and is in the list', async () => {
  await choose('chosen.csv', 'n\n7\n');
  await soon(() => form.getByLabel('Save as').inputValue()).toBe('chosen.csv');
  await form.getByRole('button', { name: 'Upload' }).click();
  await status.getByText('chosen.csv was created.').waitFor();
  expect(readFileSync(join(svc.docroot, 'chosen.csv'), 'utf8')).toBe('n\n7\n');
  await form.getByRole('link', { name: 'Open chosen' }).waitFor();
  await page.locator('.tree a[href="/ui/chosen/"]').waitFor();
});

test('a name typed before is kept, and the answer to it says what happened', async () => {
  await form.getByLabel('Save as').fill('typed.csv');
  await choose('other.csv', 'n\n8\n');
  await soon(() => form.getByLabel('Save as').inputValue()).toBe('typed.csv');
  await form.getByRole('button', { name: 'Upload' }).click();
  await status.getByText('typed.csv was created.').waitFor();
  await form.getByLabel('Save as').fill('run.ts');
  await choose('run.ts', 'export const x = 1;');
  await form.getByRole('button', { name: 'Upload' }).click();
  await status.getByText('Not stored:').waitFor();
  expect(filesThere().toSorted()).toEqual(['chosen.csv', 'typed.csv']);
});

test('a file dropped on the form is taken as if it had been chosen', async () => {
  await page.reload();
  const dropped = await page.evaluateHandle(
    '(() => { const dropped = new DataTransfer(); dropped.items.add(new File(["n\\n9\\n"], "dropped.csv")); return dropped; })()',
  );
  await form.dispatchEvent('dragover', { dataTransfer: dropped });
  await soon(() => form.getAttribute('class')).toContain('dropping');
  await form.dispatchEvent('drop', { dataTransfer: dropped });
  await soon(async () => (await form.getAttribute('class')) ?? '').not.toContain('dropping');
  await soon(() => form.getByLabel('Save as').inputValue()).toBe('dropped.csv');
  await form.getByRole('button', { name: 'Upload' }).click();
  await status.getByText('dropped.csv was created.').waitFor();
  expect(readFileSync(join(svc.docroot, 'dropped.csv'), 'utf8')).toBe('n\n9\n');
});

test('a file that is too large is refused before it is sent', async () => {
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.url()));
  await choose('large.csv', Buffer.alloc(LIMIT_BYTES + 1, 'x'));
  const refusal = status.getByText('This file is larger than an upload may be.');
  await refusal.waitFor();
  await form.getByRole('button', { name: 'Upload' }).click();
  await refusal.waitFor();
  await choose('small.csv', 'n\n');
  await soon(() => status.textContent()).toBe('');
  expect(sent.filter((url) => url.endsWith('/api/uploads'))).toEqual([]);
});

test('progress is shown, and stopping leaves nothing', async () => {
  await limitUploads(page, SLOW_BYTES_PER_SECOND);
  const before = filesThere();
  await form.getByLabel('Save as').fill('stopped.csv');
  await choose('stopped.csv', Buffer.alloc(LIMIT_BYTES, 'x'));
  const stop = form.getByRole('button', { name: 'Stop' });
  const progress = form.getByRole('progressbar');
  await soon(async () => [await stop.isVisible(), await progress.isVisible()]).toEqual([
    false,
    false,
  ]);
  await form.getByRole('button', { name: 'Upload' }).click();
  await status.getByText(/^[1-9]\d? % sent$/).waitFor();
  await soon(async () => [await stop.isVisible(), await progress.isVisible()]).toEqual([
    true,
    true,
  ]);
  await soon(() => form.getByRole('button', { name: 'Upload' }).isDisabled()).toBe(true);
  await soon(async () => Number(await progress.getAttribute('value'))).toBeGreaterThan(0);
  await stop.click();
  await status.getByText('Stopped; nothing was stored.').waitFor();
  await soon(async () => [await stop.isVisible(), await progress.isVisible()]).toEqual([
    false,
    false,
  ]);
  await eventually(() => expect(filesThere().toSorted()).toEqual(before.toSorted()));
  // Under another name: a browser that is let loose again may send the rest of the stopped file before it hears of the stop.
  await limitUploads(page, LIMIT_BYTES);
  await form.getByLabel('Save as').fill('again.csv');
  await form.getByRole('button', { name: 'Upload' }).click();
  await soon(() => status.textContent()).toStartWith('again.csv was created.');
});

test('nothing was reported, and no other server asked', () => {
  // The browser itself tells of the answer 403 to a name that is not allowed.
  const expected = /^error: Failed to load resource: .*40[03]/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});
