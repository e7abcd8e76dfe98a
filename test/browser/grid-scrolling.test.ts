/**
 * Scrolling over a large dataset: by wheel, by dragging the scroll bar and by jumps, no row in sight stays blank, is shown twice
 * or is missing. `GRID_ROWS` makes the dataset larger (1,000,000 rows scale the scroll bar); conditions are awaited, no times.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { eventually, soon } from '../http/eventually.ts';

const ROWS = Number(process.env['GRID_ROWS'] ?? 200_000);
const ROW_HEIGHT = 32;

/** What is in sight, read in one go. */
interface Sight {
  /** Places of the rows in sight, from above. */
  readonly rows: readonly number[];
  /** What is wrong with what is in sight; `''` when nothing is. */
  readonly problem: string;
}

let svc: Service;
let browser: TestBrowser;
let page: Page;

/** Rows that tell their own place. */
function bigFile(): string {
  const lines = ['place,word,amount'];
  let state = 20_261_121;
  for (let place = 0; place < ROWS; place++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    lines.push(`place ${place},w${state % 977},${state % 10_000}`);
  }
  return `${lines.join('\n')}\n`;
}

beforeAll(async () => {
  svc = await startService({ files: { 'big.csv': bigFile() } });
  await svc.accounts.grant('ada', 'big', 'read', 'write');
  browser = await TestBrowser.start({ hasScrollBars: true });
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1000, height: 800 } });
  await page.goto('/ui/big/');
  await page
    .locator('.row-count')
    .getByText(`${ROWS.toLocaleString('en')} rows`)
    .waitFor();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** Runs in the page: `total` rows, each `place <n>` in its first column. */
const LOOK = `(total, height) => {
  const grid = document.querySelector('.grid');
  const box = grid.getBoundingClientRect();
  const top = grid.querySelector('.grid-head').getBoundingClientRect().bottom;
  const bottom = box.top + grid.clientHeight;
  const all = [...grid.querySelectorAll('.grid-body .row')].map((row) => ({
    place: Number(row.dataset.row),
    rect: row.getBoundingClientRect(),
    isWaiting: row.classList.contains('waiting'),
    text: row.children[1].textContent,
  }));
  const places = all.map(({ place }) => place);
  if (new Set(places).size !== places.length) return { rows: [], problem: 'a row is there twice' };
  const seen = all
    .filter(({ rect }) => rect.bottom > top + 1 && rect.top < bottom - 1)
    .sort((a, b) => a.rect.top - b.rect.top);
  const rows = seen.map(({ place }) => place);
  const problems = [];
  if (seen.length === 0) problems.push('nothing is in sight');
  else {
    if (seen[0].rect.top > top + 1) problems.push('blank above');
    const last = seen.at(-1);
    if (last.rect.bottom < bottom - 1 && last.place !== total - 1) problems.push('blank below');
  }
  seen.forEach(({ place, rect, isWaiting, text }, index) => {
    if (isWaiting) problems.push('row ' + place + ' waits');
    else if (text !== 'place ' + place) problems.push('row ' + place + ' shows ' + text);
    const next = seen[index + 1];
    if (next === undefined) return;
    if (next.place !== place + 1) problems.push(place + ' is followed by ' + next.place);
    if (Math.abs(next.rect.top - rect.top - height) > 1) problems.push('a gap behind ' + place);
  });
  return { rows, problem: problems.join('; ') };
}`;

/** What is in sight once nothing is wrong with it and `isReached`. */
async function settled(isReached: (rows: readonly number[]) => boolean): Promise<Sight> {
  return eventually(async () => {
    const sight = await page.evaluate<Sight>(`(${LOOK})(${ROWS}, ${ROW_HEIGHT})`);
    const { problem, rows } = sight;
    if (problem === '' && isReached(rows)) return sight;
    throw new Error(`${problem}; in sight: ${rows.at(0)} to ${rows.at(-1)}`);
  });
}

async function toStart(): Promise<void> {
  await page.getByRole('grid').focus();
  // Turns of the wheel that an earlier test made may still be on their way.
  await eventually(async () => {
    await page.keyboard.press('Control+Home');
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
    const { rows } = await page.evaluate<Sight>(`(${LOOK})(${ROWS}, ${ROW_HEIGHT})`);
    expect(rows[0]).toBe(0);
  });
  await settled((rows) => rows[0] === 0);
}

test('the wheel passes every row: none is left out and none stays blank', async () => {
  await toStart();
  const box = (await page.getByRole('grid').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  let sight = await settled((rows) => rows[0] === 0);
  const passed = new Set(sight.rows);
  while (passed.size < 1_500) {
    const [first = 0] = sight.rows;
    const step = sight.rows.length - 3;
    await page.mouse.wheel(0, step * ROW_HEIGHT);
    sight = await settled((rows) => rows[0]! >= first + step);
    for (const row of sight.rows) passed.add(row);
  }
  const end = Math.max(...passed);
  expect([...passed].length).toBe(end + 1);
  const { rows } = sight;
  await page.mouse.wheel(0, -10 * ROW_HEIGHT);
  await settled((next) => next[0]! < rows[0]!);
});

test('turns of the wheel faster than rows can come end at rows that are there', async () => {
  await toStart();
  const box = (await page.getByRole('grid').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, 2_400);
  await settled((rows) => rows[0]! > 2_000);
});

test('the scroll bar is dragged to anywhere and to the end', async () => {
  await toStart();
  const grid = page.getByRole('grid');
  const box = (await grid.boundingBox())!;
  const inner = await grid.evaluate(
    (element) => (element as unknown as { clientWidth: number }).clientWidth,
  );
  expect(inner).toBeLessThan(box.width - 4);
  const x = box.x + (inner + box.width) / 2;
  await page.mouse.move(x, box.y + 24);
  await page.mouse.down();
  let before = 0;
  for (const part of [0.2, 0.4, 0.7]) {
    await page.mouse.move(x, box.y + 24 + part * box.height, { steps: 6 });
    const { rows } = await settled((now) => now[0]! > before);
    before = rows[0]!;
  }
  expect(before).toBeGreaterThan(ROWS / 4);
  await page.mouse.move(x, box.y + box.height + 200, { steps: 6 });
  await settled((rows) => rows.at(-1) === ROWS - 1);
  await page.mouse.move(x, box.y - 200, { steps: 6 });
  await settled((rows) => rows[0] === 0);
  await page.mouse.up();
});

test('jumps lead to the end, to a row, and back', async () => {
  await toStart();
  await page.keyboard.press('Control+End');
  await settled((rows) => rows.at(-1) === ROWS - 1);
  await page.keyboard.press('PageUp');
  await page.keyboard.press('PageUp');
  await settled((rows) => rows.at(-1)! < ROWS - 1);
  await page.getByLabel('Go to row').fill(String(ROWS / 2));
  await page.keyboard.press('Enter');
  await settled((rows) => rows.includes(ROWS / 2 - 1));
  await toStart();
});

test('rows that are slow to come are announced as waiting, and are there afterwards', async () => {
  await toStart();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/big/?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel('Go to row').fill(String(Math.floor(ROWS * 0.8)));
  await page.keyboard.press('Enter');
  await page.locator('.grid-body .row.waiting[aria-busy=true]').first().waitFor();
  release();
  await settled((rows) => rows.includes(Math.floor(ROWS * 0.8) - 1));
  await page.unroute('**/api/big/?*');
  await soon(() => page.locator('.grid-body .row.waiting').count()).toBe(0);
});

test('a file that changes under the scrolling leaves no blank rows', async () => {
  await toStart();
  const writer = await svc.as('ada');
  const box = (await page.getByRole('grid').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  // Told for some seconds only, maybe while the rows still come.
  const told = page.getByText('was changed by someone else').waitFor();
  const change = writer.fetch('/api/big/', {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action: 'update', data: { _row_id: 5, word: 'new' } }),
  });
  let isDone = false;
  void change.finally(() => (isDone = true));
  for (let turn = 0; turn < 400 && !isDone; turn++) await page.mouse.wheel(0, 3_000);
  expect((await change).status).toBe(200);
  for (let turn = 0; turn < 5; turn++) await page.mouse.wheel(0, 3_000);
  await settled((rows) => rows[0]! > 0);
  await told;
  await toStart();
  await page.locator('#grid-4-1').getByText('new').waitFor();
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});
