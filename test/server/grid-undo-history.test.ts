/** The order in which changes of the grid are taken back and done again. */
import { expect, test } from 'bun:test';
import { joined, type Step, UndoHistory } from '../../src/browser/grid/writing/undo-history.ts';

/** A step that writes down what becomes of it; `failures` times it is refused first. */
function step(label: string, log: string[], failures = 0): Step {
  let left = failures;
  return {
    label,
    isDoubtful: false,
    undo: async () => {
      if (left-- > 0) throw new Error('refused');
      log.push(`undo ${label}`);
    },
    redo: async () => void log.push(`redo ${label}`),
  };
}

test('the last step is undone first, and a new one ends what could be done again', async () => {
  const log: string[] = [];
  const history = new UndoHistory();
  for (const label of ['a', 'b']) history.remember(step(label, log));
  expect([await history.undo(), await history.undo(), await history.undo()]).toEqual([
    'b',
    'a',
    null,
  ]);
  expect(await history.redo()).toBe('a');
  expect(history.nextRedo?.label).toBe('b');
  history.remember(step('c', log));
  expect([history.nextUndo?.label, history.nextRedo]).toEqual(['c', null]);
  expect(log).toEqual(['undo b', 'undo a', 'redo a']);
});

test('a refused step stays, in doubt, and is tried again', async () => {
  const log: string[] = [];
  const history = new UndoHistory();
  const refused = step('a', log, 1);
  history.remember(refused);
  history.doubt();
  expect(await history.undo().catch((error: Error) => error.message)).toBe('refused');
  expect([history.nextUndo, refused.isDoubtful]).toEqual([refused, true]);
  expect(await history.undo()).toBe('a');
  expect([history.nextUndo, refused.isDoubtful]).toEqual([null, false]);
});

test('undo waits for a change that is on its way, and takes back that one', async () => {
  const log: string[] = [];
  const history = new UndoHistory();
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = history.track(promise.then(() => history.remember(step('late', log))));
  const undone = history.undo();
  resolve();
  await change;
  expect(await undone).toBe('late');
});

test('joined steps go on where they were refused', async () => {
  const log: string[] = [];
  const both = joined('both', [step('a', log, 1), step('b', log)]);
  expect(await both.undo().catch((error: Error) => error.message)).toBe('refused');
  await both.undo();
  await both.redo();
  expect(log).toEqual(['undo b', 'undo a', 'redo a', 'redo b']);
});
