/** Places are UTF-16 offsets into the query text; `told` converts them to code points. */
import { nearestName } from '../../config/nearest-name.ts';

/** Stable: part of the API. */
type ProblemCode =
  | 'syntax'
  | 'unknown_command'
  | 'missing_input'
  | 'unknown_flag'
  | 'missing_flag'
  | 'bad_value'
  | 'bad_list'
  | 'bad_mapping'
  | 'bad_condition'
  | 'bad_time'
  | 'bad_regex'
  | 'unknown_column'
  | 'unknown_lookup'
  | 'unknown_function'
  | 'unknown_aggregate'
  | 'unknown_placeholder'
  | 'unknown_source'
  | 'no_permission'
  | 'saved_search_missing'
  | 'saved_search_ambiguous'
  | 'saved_search_cycle'
  | 'join_limit'
  | 'too_large'
  | 'time_budget'
  | 'memory_budget'
  | 'bad_request';

export interface Place {
  readonly at: number;
  readonly length: number;
}

interface ProblemDetails {
  /** Null for the stage's command word. */
  readonly place?: Place | null;
  readonly suggestion?: string | null;
  readonly allowed?: readonly string[];
  /** The message lists `allowed`; only for at most 20. */
  readonly listsAllowed?: boolean;
}

export interface ToldProblem {
  readonly error: string;
  readonly code: ProblemCode;
  readonly stage: number;
  readonly command: string;
  readonly offset: number;
  readonly length: number;
  readonly suggestion?: string;
  readonly allowed?: readonly string[];
  /** `allowed` was cut. */
  readonly allowed_truncated?: true;
}

/** In the place of a command, for statements. */
export const SQL = 'sql';
const MAX_LISTED_NAMES = 20;
const MAX_ALLOWED = 500;

export class Problem extends Error {
  readonly code: ProblemCode;
  place: Place | null;
  /** From 1; set where the stage is known. */
  stage: number | null = null;
  command: string | null = null;
  readonly suggestion: string | null;
  readonly allowed: readonly string[] | null;
  readonly #listsAllowed: boolean;

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message);
    this.code = code;
    this.place = details.place ?? null;
    this.suggestion = details.suggestion ?? null;
    this.allowed = details.allowed ?? null;
    this.#listsAllowed = details.listsAllowed ?? false;
  }

  get text(): string {
    const meant = this.suggestion === null ? '' : `; did you mean '${this.suggestion}'?`;
    const allowed =
      this.#listsAllowed && this.allowed && this.allowed.length <= MAX_LISTED_NAMES
        ? `; allowed: ${this.allowed.join(', ')}`
        : '';
    return this.message + meant + allowed;
  }

  in(stage: number, command: string, word: Place): this {
    this.place ??= word;
    this.stage ??= stage;
    this.command ??= command;
    return this;
  }

  told(query: string): ToldProblem {
    const at = this.place?.at ?? 0;
    const offset = codePoints(query.slice(0, at));
    const length = this.place ? codePoints(query.slice(at, at + this.place.length)) : 1;
    const stage = this.stage ?? 1;
    const column = codePoints(query.slice(query.lastIndexOf('\n', at - 1) + 1, at)) + 1;
    const line = query.slice(0, at).split('\n').length;
    const where =
      this.command === SQL
        ? `line ${line}, column ${column}`
        : `stage ${stage}, column ${offset + 1}`;
    return {
      error: `${this.text} [${where}]`,
      code: this.code,
      stage,
      command: this.command ?? '',
      offset,
      // At the end of the query there is nothing to count.
      length: Math.max(1, length),
      ...(this.suggestion !== null && { suggestion: this.suggestion }),
      ...(this.allowed && { allowed: this.allowed.slice(0, MAX_ALLOWED) }),
      ...(this.allowed && this.allowed.length > MAX_ALLOWED && { allowed_truncated: true }),
    };
  }
}

export function unknownName(
  name: string,
  candidates: Iterable<string>,
): { suggestion: string | null; allowed: readonly string[] } {
  const allowed = [...new Set(candidates)].sort(byCodePoint);
  return { suggestion: nearestName(name, allowed), allowed };
}

/** Differs from the order of UTF-16 units beyond the basic plane. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const isPair = left >= 0xd800 && left <= 0xdfff;
    const isOtherPair = right >= 0xd800 && right <= 0xdfff;
    if (isPair !== isOtherPair) return isPair ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function codePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}
