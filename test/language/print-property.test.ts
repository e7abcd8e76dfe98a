/**
 * Printing a parsed query and parsing that gives the same query (SL-8). `SEED` repeats a run, `CASES` sets its length.
 */
import { expect, test } from 'bun:test';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { printQuery } from '../../src/language/syntax/validate.ts';
import { meaningOf } from './meaning.ts';
import { RandomQueries, randomFrom } from './random-query.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_121);
const CASES = Number(process.env['CASES'] ?? 1_000);

test(`print(parse(x)) parses to the same query (seed ${SEED}, ${CASES} cases)`, () => {
  const queries = new RandomQueries(randomFrom(SEED));
  let parsedCount = 0;
  for (let index = 0; index < CASES; index++) {
    const text = queries.query();
    const parsed = parseQuery(text, { implicitTerms: true });
    if (parsed.problem) continue;
    parsedCount++;
    const printed = printQuery(parsed);
    const again = parseQuery(printed, { implicitTerms: true });
    expect({
      seed: SEED,
      text,
      printed,
      meaning: meaningOf(again),
      problem: again.problem?.message,
    }).toEqual({
      seed: SEED,
      text,
      printed,
      meaning: meaningOf(parsed),
      problem: undefined,
    });
    expect(printQuery(again)).toBe(printed);
  }
  expect(parsedCount).toBeGreaterThan(CASES * 0.9);
});

test(`any text is parsed or refused with a place in it, never more (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  const pieces = [
    'search',
    'stats',
    'where',
    '|',
    '[',
    ']',
    '(',
    ')',
    '"',
    "'",
    '--',
    '=',
    ' ',
    '\\',
    '{now}',
    '{x',
    'BY',
    'AS',
    'eval',
    'join',
    'é',
    '😀',
    '\uFDD0',
    '\uFDD1',
    'a',
    '*',
    ',',
    '.',
    '1',
    'NOT',
    'OR',
    '\n',
    '\0',
  ];
  for (let index = 0; index < CASES; index++) {
    const count = Math.floor(random() * 14);
    const text = Array.from(
      { length: count },
      () => pieces[Math.floor(random() * pieces.length)]!,
    ).join(random() < 0.5 ? ' ' : '');
    const { problem } = parseQuery(text, { implicitTerms: true });
    if (problem === null) continue;
    const { offset, length, stage } = problem.told(text);
    expect(offset).toBeLessThanOrEqual([...text].length);
    expect(length).toBeGreaterThan(0);
    expect(stage).toBeGreaterThan(0);
  }
});
