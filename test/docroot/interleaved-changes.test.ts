/**
 * Other programs, other requests and edits of the same files, each come in where one of them waits: no answer is of another
 * version, no row loses its id, and nobody is told of what others met.
 */
import { expect, test } from 'bun:test';
import { docrootInPlace } from '../support/docroot-in-place.ts';

test('a table is read while as many others as are kept open are being written', async () => {
  const names = Array.from({ length: 66 }, (_, index) => `t${index}`);
  await using place = await docrootInPlace(
    Object.fromEntries(names.map((name) => [`${name}.csv`, 'n\n1\n'])),
  );
  const gate = Promise.withResolvers<void>();
  const writing: Promise<void>[] = [];
  for (const name of names) {
    const table = await place.table(name);
    expect(table.isClosed).toBe(false);
    writing.push(table.exclusive.run(() => gate.promise));
  }
  gate.resolve();
  await Promise.all(writing);
});
