/**
 * What every command says of itself holds: its examples run, its syntax names it, its printed form parses back (SL-8).
 */
import { describe, expect, test } from 'bun:test';
import { commands } from '../../src/language/commands/index.ts';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { printQuery } from '../../src/language/syntax/validate.ts';
import { meaningOf } from './meaning.ts';
import { readExamples } from './golden-file.ts';
import { ask } from './fixture.ts';

describe.each(commands.map((command) => [command.name, command] as const))(
  '%s',
  (name, command) => {
    test('has an example for each of its forms, and all of them run', () => {
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) {
        const { problem, rows } = ask(example, { params: { idx: 'web' } });
        expect({ example, problem }).toEqual({ example, problem: null });
        expect(rows).not.toBe('[]');
        const used = parseQuery(example, { implicitTerms: true }).stages.map(
          (stage) => stage.command,
        );
        expect(used).toContain(name);
      }
    });

    test('says its syntax in each of its forms', () => {
      for (const form of command.forms) expect(command.syntax[form]).toStartWith(name);
    });
  },
);

test('every query of the contract prints as text that means the same (SL-8)', () => {
  for (const { query } of readExamples()) {
    const parsed = parseQuery(query, { implicitTerms: true });
    if (parsed.problem) continue;
    const printed = printQuery(parsed);
    const again = parseQuery(printed, { implicitTerms: true });
    expect({ query, printed, problem: again.problem?.message }).toEqual({
      query,
      printed,
      problem: undefined,
    });
    expect(meaningOf(again)).toEqual(meaningOf(parsed));
  }
});
