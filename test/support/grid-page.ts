/**
 * What browser tests of a dataset's page have in common: where the grid keeps its cells and its messages, and what the service
 * itself reads of a file.
 */
import { expect } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import type { TestBrowser } from './browser.ts';
import type { Service } from './service.ts';

/** A window as on a phone in the hand: `openAs(browser, svc, 'ada', PHONE)`. */
export const PHONE: Parameters<TestBrowser['open']>[1] = {
  viewport: { width: 390, height: 780 },
  hasTouch: true,
  isMobile: true,
};

/** A cell by its place in the view, both counted from 0. */
export function cellOn(page: Page, row: number, column: number): Locator {
  return page.locator(`#grid-${row}-${column}`);
}

/** The grid's message about the last change. */
export function noticeOn(page: Page): Locator {
  return page.locator('.grid-notice');
}

/** Presses keys, one after the other. */
export async function pressOn(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Resolves when the service reads exactly this CSV of a dataset: what was written from outside has been seen. */
export async function readsAs(service: Service, name: string, csv: string): Promise<void> {
  const client = await service.as('ada');
  await eventually(async () => {
    const response = await client.fetch(`/api/${name}/?format=csv`);
    expect(await response.text()).toBe(csv);
  });
}

/**
 * Resolves when the page asks nothing of who leaves it: every value that was typed is in the file, and the page has heard so. The
 * file changes before the page knows.
 */
export async function mayBeLeft(page: Page): Promise<void> {
  await soon(() =>
    page.evaluate<boolean>(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`),
  ).toBe(true);
}

/** Writes a CSV from outside and opens its page anew; resolves when the first row is there. */
export async function openWritten(
  page: Page,
  service: Service,
  name: string,
  csv: string,
): Promise<void> {
  service.write(`${name}.csv`, csv);
  await readsAs(service, name, csv);
  await mayBeLeft(page);
  await page.goto(`/ui/${name}/`);
  const [, first = ''] = /\n([^,\n]*)/.exec(csv) ?? [];
  await cellOn(page, 0, 0).getByText(first, { exact: true }).waitFor();
}

/** Takes the last change back and does it again, with the keys and messages for that; the file is as `before` in between. */
export async function undoAndRedo(
  page: Page,
  change: string,
  { file, before }: { readonly file: () => string; readonly before: string },
): Promise<void> {
  const after = file();
  await pressOn(page, 'Control+z');
  await noticeOn(page).getByText(`Undid ${change}.`).waitFor();
  expect(file()).toBe(before);
  await pressOn(page, 'Control+y');
  await noticeOn(page).getByText(`Redid ${change}.`).waitFor();
  expect(file()).toBe(after);
}
