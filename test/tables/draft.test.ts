/** Edits of many rows, which others must not have to wait for. */
import { expect, test } from 'bun:test';
import { Draft } from '../../src/tables/edit/draft.ts';
import { MAX_CHANGED_ROWS, parseMutation } from '../../src/tables/edit/change-request.ts';
import { docrootInPlace } from '../support/docroot-in-place.ts';

/** What comes of the work, and how often others had their turn meanwhile. */
async function withTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let timer = setImmediate(function turn() {
    turns++;
    timer = setImmediate(turn);
  });
  const result = await work();
  clearImmediate(timer);
  return { result, turns };
}

test('taking many new rows into an edit, and telling its copy of them, gives the event loop turns', async () => {
  const ROWS = MAX_CHANGED_ROWS;
  await using place = await docrootInPlace({ 'a.csv': 'n,t\n1,x\n' });
  const table = await place.table('a');
  const data = Array.from({ length: ROWS }, (_, n) => ({ n, t: `text ${n}` }));
  const mutation = await parseMutation('POST', { action: 'create', data }, table.columns);
  const draft = new Draft(table);
  const applied = await withTurns(() => draft.apply(mutation));
  expect(applied.result.rowIds).toHaveLength(ROWS);
  expect(applied.turns).toBeGreaterThan(2);

  const cells = data.flatMap(({ n, t }) => [
    { position: 0, before: undefined, after: String(n) },
    { position: 1, before: undefined, after: t },
  ]);
  const { segments } = table;
  const layout = { dialect: {}, bodyOffset: 0, segments };
  const written = { stamp: table.state.stamp, hash: '' };
  const committed = await withTurns(() => draft.commit({ pieces: [], layout, cells }, written, 0));
  expect(committed.result.creates.size).toBe(ROWS);
  expect(committed.result.state.counts[0]!.integer).toBe(ROWS + 1);
  expect(committed.turns).toBeGreaterThan(2);
});
