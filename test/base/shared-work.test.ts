/** Work that several ask for at once is done once for those who may share it (S-D1). */
import { expect, test } from 'bun:test';
import { SharedWork } from '../../src/base/scheduling/shared-work.ts';

test('64 who ask at once cause two pieces of work, and nobody gets what began before he asked', async () => {
  const work = new SharedWork<number>();
  let begun = 0;
  const make = async (): Promise<number> => {
    const own = ++begun;
    await Promise.resolve();
    return own;
  };
  const made = await Promise.all(Array.from({ length: 64 }, () => work.get('anna', make)));
  expect(made).toEqual([1, ...Array.from({ length: 63 }, () => 2)]);
  expect(await work.get('anna', make)).toBe(3);
});

test('a failure is told to those who shared it, and the next is made anew', async () => {
  const work = new SharedWork<number>();
  const fails = work.get('anna', () => Promise.reject(new Error('once')));
  const next = work.get('anna', () => Promise.resolve(2));
  expect(work.get('ben', () => Promise.resolve(3))).resolves.toBe(3);
  expect(fails).rejects.toThrow('once');
  expect(await next).toBe(2);
});
