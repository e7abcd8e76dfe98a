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
