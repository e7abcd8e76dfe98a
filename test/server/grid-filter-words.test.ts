/**
 * What a filter says in words (DS-51, DS-52).
 */
import { expect, test } from 'bun:test';
import { describeMember, shortWords } from '../../src/pages/grid/filter-words.ts';

function words(filter: object): string[] {
  return Object.entries(filter).map(([name, member]) => describeMember(name, member));
}

test.each([
  [{ colour: 'red' }, 'colour = red'],
  [{ price: { $gte: 10, $lte: 11 } }, 'price ≥ 10 and ≤ 11'],
  [{ name: { $icontains: 'x' } }, 'name contains x'],
  [{ name: { $null: true } }, 'name is blank'],
  [{ name: '' }, 'name = blank'],
  [{ city: { $in: ['Bern', 'Basel', 'Chur'] } }, 'city is Bern, Basel or Chur'],
  [{ city: { $in: ['Bern'] } }, 'city = Bern'],
  [{ city: { $nin: ['Bern', 'Basel'] } }, 'city is neither Bern nor Basel'],
  [{ city: { $in: [] } }, 'city is nothing'],
  [{ city: { $in: ['a, b', 'c or d', ' e'] } }, 'city is “a, b”, “c or d” or “ e”'],
  [{ $or: [{ city: 'Bern' }, { city: { $eq: 'Basel' } }] }, 'city is Bern or Basel'],
  [{ $or: [{ city: { $in: ['a', 'b'] } }, { city: 'c' }] }, 'city is a, b or c'],
  [{ $or: [{ price: { $lt: 5 } }, { price: { $gt: 10 } }] }, 'price < 5 or > 10'],
  [{ $or: [{ name: { $icontains: 'a' } }, { name: { $icontains: 'b' } }] }, 'name contains a or b'],
  [{ $or: [{ city: 'Bern' }, { city: { $null: true } }] }, 'city = Bern or is blank'],
  [{ $or: [{ city: 'Bern' }, { price: { $gte: 5 } }] }, 'city = Bern or price ≥ 5'],
  [
    { $or: [{ city: 'Bern', price: { $gte: 5 } }, { sold: true }] },
    '(city = Bern and price ≥ 5) or sold = true',
  ],
  [
    { $and: [{ $or: [{ city: 'Bern' }, { city: 'Basel' }] }, { price: 5 }] },
    '(city is Bern or Basel) and price = 5',
  ],
  [{ $not: { city: 'Bern' } }, 'city ≠ Bern'],
  [{ $not: { price: { $gt: 5 } } }, 'price is not > 5'],
  [{ $not: { name: { $icontains: 'x' } } }, 'name does not contain x'],
  [{ $not: { city: { $null: true } } }, 'city is not blank'],
  [{ $not: { city: 'Bern', price: 5 } }, 'not (city = Bern and price = 5)'],
  [{ $not: { $or: [{ city: 'Bern' }, { price: 5 }] } }, 'not (city = Bern or price = 5)'],
  [{ price: { $not: { $gt: 5, $lt: 9 } } }, 'price is not (> 5 and < 9)'],
  [{ price: { $not: { $not: { $gt: 5 } } } }, 'price > 5'],
  [{ $or: [] }, 'no row'],
  [{ $and: [] }, 'every row'],
  [{ $not: {} }, 'no row'],
  [{ city: {} }, 'city is anything'],
  [{ $or: 5 }, '$or 5'],
  [{ city: { $near: [1] } }, 'city $near [1]'],
  [{ city: ['Bern'] }, 'city = ["Bern"]'],
  [JSON.parse('{"__proto__":{"$toString":1}}') as object, '__proto__ $toString 1'],
])('%j is told as “%s”', (filter, text) => {
  expect(words(filter)).toEqual([text]);
});

test('a filter deeper than there may be ends in dots (DS-55)', () => {
  let filter: object = { city: 'Bern' };
  for (let depth = 0; depth < 5_000; depth++) filter = { $not: filter };
  expect(words(filter)[0]).toMatch(/^not \(.*\(…\)+$/);
  let operators: object = { $eq: 1 };
  for (let depth = 0; depth < 5_000; depth++) operators = { $not: operators };
  expect(words({ city: operators })[0]).toEndWith('…');
});

test('long words are cut between two of them', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `city ${at}`);
  const text = words({ city: { $in: many } })[0]!;
  const short = shortWords(text);
  expect(short).toBe(
    'city is city 0, city 1, city 2, city 3, city 4, city 5, city 6, city 7, city 8…',
  );
  expect(shortWords('x'.repeat(200))).toBe(`${'x'.repeat(80)}…`);
  expect(shortWords('colour = red')).toBe('colour = red');
});
