import { Database } from 'bun:sqlite';
import { instantOf } from '../values/instant.ts';
import { compileRegex } from '../filter/regex.ts';
import { wideText } from '../values/wide-number.ts';
import { foldCase, hasWords } from '../filter/words.ts';

const OPTIONS = { deterministic: true, directOnly: true } as const;
const registered = new WeakSet<Database>();

/** Writes nothing, though a read-only connection could not create the shared memory file of a WAL database. */
export function openReader(path: string, busyMs = 5_000): Database {
  const db = new Database(path, { readwrite: true, create: false });
  db.run(`PRAGMA busy_timeout = ${busyMs}; PRAGMA query_only = ON; PRAGMA mmap_size = 0`);
  return db;
}

/**
 * Once per connection is enough. Text forms are NULL for null cells; every function then returns NULL or 0, which
 * matches nothing.
 */
export function registerFunctions(db: Database): void {
  if (registered.has(db)) return;
  registered.add(db);
  const wordsOf = lastResult((joined: string) => joined.split(' '));
  const testOf = lastResult(compileRegex);
  db.function('svc_text', OPTIONS, (value: number) => String(value));
  db.function('svc_wide', OPTIONS, (key: string | null, digits: number, scale: number) =>
    key === null ? null : wideText(key, { digits, scale }),
  );
  db.function('svc_instant', OPTIONS, (text: unknown) =>
    typeof text === 'string' ? instantOf(text) : null,
  );
  db.function('svc_icontains', OPTIONS, (text: string | null, folded: string) =>
    text === null ? 0 : foldCase(text).includes(folded),
  );
  db.function('svc_regex', OPTIONS, (text: string | null, pattern: string) =>
    text === null ? 0 : (testOf(pattern)?.(text) ?? 0),
  );
  // The text is a row's cells as lines; words are joined by spaces.
  db.function('svc_words', OPTIONS, (text: string, words: string) =>
    hasWords(text, wordsOf(words)),
  );
}

/** Remembers one result: a query mostly calls with the same argument for every row. */
function lastResult<Result>(compute: (argument: string) => Result): (argument: string) => Result {
  let last: { argument: string; result: Result } | null = null;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}
