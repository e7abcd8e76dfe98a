/**
 * Reads examples: `E<n>: <query>` of the contract, `SL-<rule>.<n>: <query>` of ours, then `=` rows, `!` a problem, `~`
 * notices; `@` before says for whom, with what, and whether the answer goes by the clock of the fixture.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../../src/language/expressions/value.ts';

export interface Example {
  readonly id: string;
  readonly query: string;
  readonly caller?: string;
  readonly params?: Record<string, Value>;
  readonly timezone?: string;
  /** Right only at the time of the fixture. */
  readonly isRelative?: boolean;
  rows: string | null;
  problem: string | null;
  notices: string[];
}

const FILES = ['search-language.golden', 'search-language-rules.golden'];

export function readExamples(): Example[] {
  return FILES.flatMap((file) => examplesOf(join(import.meta.dir, '../golden', file)));
}

function examplesOf(file: string): Example[] {
  const examples: Example[] = [];
  let asked: Pick<Example, 'caller' | 'params' | 'timezone' | 'isRelative'> = {};
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const start = /^(E\d+|SL-\d+\.\d+): (.*)$/.exec(line);
    if (start) {
      examples.push({
        id: start[1]!,
        query: start[2]!,
        ...asked,
        rows: null,
        problem: null,
        notices: [],
      });
      asked = {};
    } else if (line.startsWith('@ ')) asked = JSON.parse(line.slice(2));
    else if (line.startsWith('= ')) examples.at(-1)!.rows = line.slice(2);
    else if (line.startsWith('! ')) examples.at(-1)!.problem = line.slice(2);
    else if (line.startsWith('~ ')) examples.at(-1)!.notices = JSON.parse(line.slice(2));
  }
  return examples;
}
