/** Words with letters that no bare word of the terse form has: the error shows them in the quotes they need (SL-71, SL-174). */
import { expect, test } from 'bun:test';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { workSince } from '../support/patience.ts';

test('a long word before such a letter takes no time', () => {
  const start = process.cpuUsage();
  const { problem } = parseQuery(`from a | where ${'a'.repeat(60_000)} ß`, { implicitTerms: true });
  expect(problem?.text).toStartWith('Unexpected text');
  expect(workSince(start)).toBeLessThan(500);
});

const told: readonly (readonly [string, string])[] = [
  ['where Name=Groß', `Unexpected text, found 'ß'; did you mean '"Groß"'?`],
  ['where Name = Übung', `Expected an expression, found 'Übung'; did you mean '"Übung"'?`],
  ['where Größe=1', `Unexpected text, found 'öße=1'; did you mean ''Größe''?`],
  ['sort Größe', `Expected a field name, found 'öße'; did you mean ''Größe''?`],
  ['where n=1 2', `Unexpected text, found '2'`],
  ['where n=§', `Expected an expression, found '§'`],
];

for (const [stage, text] of told) {
  test(`${stage}: ${text}`, () => {
    const { problem } = parseQuery(`from a | ${stage}`, { implicitTerms: true });
    expect(problem?.text).toBe(text);
  });
}
