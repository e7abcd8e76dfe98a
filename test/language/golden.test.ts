/**
 * Every example of section 14 of the contract, and ours of its other rules, on the fixture in memory.
 */
import { describe, expect, test } from 'bun:test';
import { readExamples } from './golden-file.ts';
import { ask } from './fixture.ts';

describe('the examples (SL-1 to SL-182)', () => {
  for (const example of readExamples()) {
    test(`${example.id}: ${example.query.slice(0, 90)}`, () => {
      const answer = ask(example.query, example);
      expect(answer.problem ?? answer.rows).toBe(example.problem ?? example.rows);
      expect(answer.notices).toEqual(example.notices);
    });
  }
});
