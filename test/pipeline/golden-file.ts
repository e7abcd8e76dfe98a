/**
 * Reads the examples of the contract: `E<n>: <query>`, then `=` rows, `!` a problem, `~` notices, `@` before for whom.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../../src/pipeline/value.ts';

export interface Example {
  readonly id: string;
  readonly query: string;
  readonly caller?: string;
  readonly params?: Record<string, Value>;
  rows: string | null;
  problem: string | null;
  notices: string[];
}

export function readExamples(): Example[] {
  const file = join(import.meta.dir, '../golden/search-language.golden');
  const examples: Example[] = [];
  let asked: Pick<Example, 'caller' | 'params'> = {};
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const start = /^(E\d+): (.*)$/.exec(line);
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
