/**
 * The corner of the selection, pulled by the mouse and by a finger: patterns and series in every direction, one step of undo, and
 * nothing of it for those who only read.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import {
  cellOn,
  noticeOn,
  openWritten,
  PHONE,
  pressOn,
  undoAndRedo,
} from '../support/grid-page.ts';
import { onSharedCores } from '../support/patience.ts';
import { type Service, startService } from '../support/service.ts';

const START = 'name,n,size,kind\na,1,2.5,x\nb,3,7,y\nc,9,4.5,x\nd,9,8,x\ne,9,1,x\n';
const ROWS = 120;
const LIST = `n,word\n${Array.from({ length: ROWS }, (_, at) => `${at},w${at}\n`).join('')}`;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({ files: { 'stock.csv': START, 'list.csv': LIST } });
  await svc.createSuperuser('ada');
  await svc.accounts.grant('rita', '*', 'read');
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1000, height: 700 } });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (name = 'stock.csv'): string => readFileSync(join(svc.docroot, name), 'utf8');
const cell = (row: number, column: number, on = page) => cellOn(on, row, column);
const notice = (on = page) => noticeOn(on);
const handle = (on = page) => on.locator('.fill-handle');
const press = (...keys: string[]) => pressOn(page, ...keys);

/** Presses the mouse on the corner, which is in this cell by then, and pulls it over another one. */
async function pull(from: [number, number], to: [number, number]): Promise<void> {
  await cell(...from)
    .locator('.fill-handle')
    .hover();
  await page.mouse.down();
  await cell(...to).hover();
  await cell(...to)
    .and(page.locator('.in-fill'))
    .waitFor();
}

beforeEach(async () => {
  await openWritten(page, svc, 'stock', START);
  await page.getByRole('grid').focus();
});

test('a block is pulled down: texts are repeated, integers with a step go on; one step of undo', async () => {
  await press('Shift+ArrowDown', 'Shift+ArrowRight');
  await pull([1, 1], [4, 1]);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.mouse.up();
  await notice().getByText('5 values in 3 rows are filled. n: went on as a series.').waitFor();
  const filled = 'name,n,size,kind\na,1,2.5,x\nb,3,7,y\na,5,4.5,x\nb,7,8,x\na,9,1,x\n';
  // The 9 at the end is what was there.
  expect(file()).toBe(filled);
  await page.getByText('10 cells in 5 rows selected').waitFor();
  await undoAndRedo(page, 'the filling of 5 values', { file, before: START });
  expect(browser.reports).toEqual([]);
});

test('a cell is pulled up and sideways, Ctrl copies what would go on, Esc gives up', async () => {
  await press('ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight');
  await pull([2, 2], [0, 2]);
  await page.mouse.up();
  await notice().getByText('2 values in 2 rows are filled.').waitFor();
  expect(file()).toBe(START.replace('2.5,x', '4.5,x').replace('7,y', '4.5,y'));
  await press('Control+z');
  await notice().getByText('Undid the filling').waitFor();

  // To the right into texts, to the left into integers, where it does not fit.
  await press('Escape', 'Control+Home', 'ArrowRight', 'ArrowRight');
  await pull([0, 2], [0, 3]);
  await page.mouse.up();
  await notice().getByText('kind of row 1 is filled.').waitFor();
  expect(file()).toBe(START.replace('2.5,x', '2.5,2.5'));
  await press('Control+z');
  await notice().getByText('Undid the filling').waitFor();
  await press('Escape', 'Control+Home', 'ArrowRight', 'ArrowRight');
  await pull([0, 2], [0, 1]);
  await page.mouse.up();
  await notice().getByText('Nothing was filled: 1 value did not fit.').waitFor();
  expect(file()).toBe(START);

  await press('Escape', 'Control+Home', 'ArrowRight', 'Shift+ArrowDown');
  await pull([1, 1], [3, 1]);
  await press('Escape');
  await soon(() => page.locator('.in-fill').count()).toBe(0);
  await page.mouse.up();
  await page.getByText('2 cells in 2 rows selected').waitFor();
  await pull([1, 1], [3, 1]);
  await page.keyboard.down('Control');
  await page.mouse.up();
  await page.keyboard.up('Control');
  await notice().getByText('2 values in 2 rows are filled.').waitFor();
  expect(file()).toBe(START.replace('c,9', 'c,1').replace('d,9', 'd,3'));
  expect(browser.reports).toEqual([]);
});

test('past the edge the grid scrolls along, also to rows that were never in sight', async () => {
  await page.goto('/ui/list/');
  await cell(0, 1).getByText('w0').waitFor();
  await page.getByRole('grid').focus();
  await press('ArrowRight');
  await cell(0, 1).locator('.fill-handle').hover();
  await page.mouse.down();
  const box = (await page.getByRole('grid').boundingBox())!;
  await page.mouse.move(box.x + 200, box.y + box.height + 80);
  const last = cell(ROWS - 1, 1);
  await last.and(page.locator('.in-fill')).waitFor();
  await page.mouse.up();
  await notice()
    .getByText(`${ROWS - 1} values in ${ROWS - 1} rows are filled.`)
    .waitFor();
  expect(file('list.csv')).toBe(LIST.replaceAll(/,w\d+/g, ',w0'));
  expect(browser.reports).toEqual([]);
});

test('a finger pulls the corner, while beside it a finger scrolls and a tap on it is one on the cell', async () => {
  const phone = await openAs(browser, svc, 'ada', PHONE);
  await phone.goto('/ui/stock/');
  await cell(0, 0, phone).getByText('a', { exact: true }).waitFor();
  await phone.getByRole('grid').focus();
  await handle(phone).waitFor();
  const devtools = await phone.context().newCDPSession(phone);
  const from = (await handle(phone).boundingBox())!;
  const x = from.x + from.width / 2;
  const y = from.y + from.height / 2;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', by = 0) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x, y: y + by }],
    });
  await touch('touchStart');
  for (let by = 8; by <= 64; by += 8) await touch('touchMove', by);
  await cell(2, 0, phone).and(phone.locator('.in-fill')).waitFor();
  await touch('touchEnd');
  await notice(phone).getByText('2 values in 2 rows are filled.').waitFor();
  expect(file()).toBe(START.replace('b,3', 'a,3').replace('c,9', 'a,9'));
  // A tap that a busy machine stretches is a long press, which is none: then once more.
  const tapUntil = (target: Locator, shown: Locator): Promise<void> =>
    eventually(async () => {
      await target.tap();
      await shown.waitFor({ timeout: onSharedCores(1_000) });
    });
  await tapUntil(cell(3, 0, phone), cell(3, 0, phone).and(phone.locator('.active')));
  const corner = cell(3, 0, phone).locator('.fill-handle');
  await tapUntil(corner, phone.getByRole('textbox', { name: 'name' }));
  await phone.context().close();
  expect(browser.reports).toEqual([]);
});

test('DS-184: readers have no corner to pull', async () => {
  const other = await openAs(browser, svc, 'rita');
  await other.goto('/ui/stock/');
  await cell(0, 0, other).click();
  await cell(0, 0, other).and(other.locator('.active')).waitFor();
  expect(await handle(other).count()).toBe(0);
  await other.context().close();
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});
