/**
 * Short answers of the last moments, for callers that take one which is some seconds old: a dashboard on a wall, or one
 * that is opened by several. An answer is given again only to the same user with the same rights.
 */
import { Lru } from '../../base/lru.ts';

interface RecentAnswer {
  readonly body: Uint8Array;
  readonly isCut: boolean | null;
  /** On `performance.now()`. */
  readonly at: number;
}

/** With the next limit 32 MiB. */
const MAX_ANSWERS = 128;
const MAX_BYTES = 256 * 1024;

export class RecentAnswers {
  readonly #kept = new Lru<string, RecentAnswer>(MAX_ANSWERS);

  /** Null: there is none so young. */
  get(key: string, maxAgeMs: number): RecentAnswer | null {
    const found = this.#kept.get(key);
    return found !== undefined && performance.now() - found.at <= maxAgeMs ? found : null;
  }

  set(key: string, answer: RecentAnswer): void {
    if (answer.body.length <= MAX_BYTES) this.#kept.set(key, answer);
  }
}
