import type { ToldProblem } from '../../language/syntax/problem.ts';
import type { QueryProblem } from '../parts/event-query.tsx';
import { addressOf, type Asked } from './asked.ts';

/** Shows a problem in the query as typed, although its place is given in code points of the query with its times. */
export function problemOf(asked: Asked, full: string, problem: ToldProblem): QueryProblem {
  const { length, suggestion = null, allowed = [] } = problem;
  const [told = problem.error] = problem.error.split('\n');
  const typed = placeIn(asked.q, full, problem);
  const points = [...(typed === null ? full : asked.q)];
  const offset = typed ?? problem.offset;
  const before = points.slice(0, offset).join('');
  const wrong = points.slice(offset, offset + length).join('');
  const after = points.slice(offset + length).join('');
  // The column counts in the query with its times, and the place is underlined anyway.
  const message = told.replace(/ \[stage \d+, column \d+\]$/, '');
  const isWord = suggestion !== null && [suggestion, wrong].every((text) => /^[\w.-]+$/.test(text));
  return {
    before,
    wrong,
    after,
    message,
    suggestion: isWord || !message.includes(suggestion ?? message) ? suggestion : null,
    suggestionHref:
      isWord && typed !== null ? addressOf({ ...asked, q: before + suggestion + after }) : null,
    allowed,
  };
}

/** Null when the problem is in the times. */
function placeIn(q: string, full: string, { offset, length }: ToldProblem): number | null {
  const [typed, ran] = [[...q], [...full]];
  let same = 0;
  while (same < typed.length && typed[same] === ran[same]) same++;
  if (offset + length <= same) return offset;
  const moved = offset - (ran.length - typed.length);
  const isSame = (index: number): boolean => typed[moved + index] === ran[offset + index];
  return moved >= 0 &&
    moved + length <= typed.length &&
    ran.slice(offset).every((_, i) => isSame(i))
    ? moved
    : null;
}
