import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Lru } from '../../src/base/lru.ts';

test('the entry unused for longest goes first', () => {
  const evicted: string[] = [];
  const lru = new Lru<string, number>(2, (key) => evicted.push(key));
  lru.set('a', 1);
  lru.set('b', 2);
  lru.get('a');
  lru.set('c', 3);
  expect(evicted).toEqual(['b']);
  expect([...lru.entries()]).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
});

test('replacing, deleting and clearing evict nothing', () => {
  const evicted: string[] = [];
  const lru = new Lru<string, number>(1, (key) => evicted.push(key));
  lru.set('a', 1);
  lru.set('a', 2);
  expect(lru.get('a')).toBe(2);
  expect(lru.delete('a')).toBe(true);
  expect(lru.delete('a')).toBe(false);
  lru.set('b', 1);
  lru.clear();
  expect([lru.size, evicted]).toEqual([0, []]);
});

test('any sequence of calls behaves like a list kept in order of use', () => {
  const call = fc.record({ key: fc.integer({ min: 0, max: 5 }), isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(call), fc.integer({ min: 1, max: 4 }), (calls, limit) => {
      const lru = new Lru<number, number>(limit);
      let model: number[] = [];
      for (const { key, isSet } of calls) {
        if (isSet) lru.set(key, key);
        else expect(lru.get(key)).toBe(model.includes(key) ? key : undefined);
        if (isSet || model.includes(key)) model = [...model.filter((k) => k !== key), key];
        model = model.slice(-limit);
        expect([...lru.entries()].map(([k]) => k)).toEqual(model);
      }
    }),
  );
});
