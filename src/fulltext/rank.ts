/**
 * One ranked list over rows and documents, as the `search` job of the query worker.
 *
 * Rights are ranges of entries in the index query itself, so what a caller may not read is neither counted nor read,
 * and its amount does not show in the time of a search. Of each resource at most RANKED matches are scored; the
 * others follow all scored ones in file order. This is decided within a resource, so it does not depend on what else
 * the caller may read, and a word in a million rows costs no more than one in a thousand.
 */
import type { Database, Statement } from 'bun:sqlite';
import { foldText, hasWords } from '../tables/filter/words.ts';
import { frequencyOf } from './occurrences.ts';
import { rangeOf, resourceNoOf, rowOf } from './entry-id.ts';
import type { Catalogue } from './catalogue.ts';
import { HEAD_CHARACTERS, TITLE_MARK, WORD_PLACES } from './index-file.ts';
import { firstCell, unpackRow } from './row-text.ts';
import { scoreOf, typoScore, UNRANKED } from './score.ts';
import { type SnippetPart, snippetOf } from './snippet.ts';
import { tolerated, typoCandidates, typosIn } from './typos.ts';

const RANKED = 1_000;

/** Entries read by one statement; each document may have thousands of words. */
const READ_AT_ONCE = 500;
/** Shorter prefixes match too many words of titles. */
const MIN_TITLE_BEGINNING = 3;

/** Shorter prefixes have lists of their own in the index. */
const MIN_EXPANDED = 3;
const MAX_EXPANDED = 24;
/** Places of all words with a prefix that SQLite may merge, regardless of rights; takes it less than a ms. */
const MAX_MERGED = 2_000;

/**
 * Entries of a range that may have a word with a prefix; SQLite decides that for plain ASCII only. Column names
 * belong to every row.
 */
const ENTRIES_WITH = `
  SELECT id, title, body || coalesce(rest, '') AS text FROM entries
  WHERE id BETWEEN ?2 AND ?3 AND (
    instr(lower(body), ?1) OR length(body) <> octet_length(body) OR rest IS NOT NULL
    OR instr(lower(title), ?1) OR length(title) <> octet_length(title)
    OR (title IS NULL AND id / ${rangeOf(1)[0]} IN (
      SELECT no FROM resources WHERE instr(lower(columns), ?1) OR length(columns) <> octet_length(columns)
    ))
  ) ORDER BY id`;

export interface FindRequest {
  /** Folded, at least one; all must occur, the last as a prefix. */
  readonly words: readonly string[];
  /** Numbers of the resources the caller may find, in the order that decides ties. */
  readonly resources: readonly number[];
  readonly offset: number;
  readonly limit: number;
  /** Titles of documents may match with typing mistakes. */
  readonly isTolerant: boolean;
}

export interface FoundEntry {
  readonly no: number;
  /** Null for a document. */
  readonly rowId: number | null;
  readonly title: string;
  /** Fragment of the page; null for its top. */
  readonly anchor: string | null;
  readonly snippet: readonly SnippetPart[];
  readonly score: number;
}

export interface FoundPage {
  readonly hits: readonly FoundEntry[];
  readonly hasMore: boolean;
}

interface Match {
  readonly id: number;
  readonly score: number;
}

/** The caller holds a read transaction. `catalogue` is called only when there are too few exact matches. */
export function find(db: Database, request: FindRequest, catalogue: () => Catalogue): FoundPage {
  const matches = new Matches(db, request);
  const wanted = request.offset + request.limit + 1;
  const { ranked, overflowing } = matches.ranked();
  const ids: Match[] = ranked.slice(request.offset, wanted);
  let seen = ranked.length;
  for (const no of overflowing) {
    if (seen >= wanted) break;
    const skip = Math.max(0, request.offset - seen);
    const rest = matches.unranked(no, skip, wanted - Math.max(seen, request.offset));
    ids.push(...rest.ids.map((id) => ({ id, score: UNRANKED })));
    seen += rest.count;
  }
  if (seen < wanted && request.isTolerant && request.words.some((word) => tolerated(word) > 0)) {
    const typos = matches.mistyped(catalogue());
    ids.push(...typos.slice(Math.max(0, request.offset - seen), wanted - seen));
  }
  const hits = ids.slice(0, request.limit).map((match) => matches.describe(match));
  return { hits, hasMore: ids.length > request.limit };
}

type Range = readonly [number, number];

interface Entry {
  readonly title: string;
  readonly anchor: string | null;
  readonly body: string;
}

class Matches {
  readonly #db: Database;
  readonly #words: readonly string[];
  readonly #order: ReadonlyMap<number, number>;
  readonly #ranges: readonly Range[];
  readonly #query: IndexQuery;
  readonly #wholeQuery: IndexQuery;
  readonly #entries: Statement;
  readonly #columns = new Map<number, readonly string[] | null>();
  readonly #best = new Map<number, ReadonlySet<number>>();

  constructor(db: Database, { words, resources }: FindRequest) {
    this.#db = db;
    this.#entries = db.query('SELECT title, anchor, body FROM entries WHERE id = ?');
    this.#words = words;
    this.#order = new Map(resources.map((no, index) => [no, index]));
    this.#ranges = rangesOf(resources);
    const beginning = words.at(-1)!;
    this.#wholeQuery = { words, last: [beginning], isRead: false };
    const last = wordsBegunWith(db, beginning);
    const isRead = last === null && hidesSome(db, resources) && isFrequent(db, beginning);
    this.#query = { words, last, isRead };
  }

  /**
   * The scored matches, best first, and the resources that have more, in their order. When whole words alone give
   * more than enough, or no longer word begins with the last one, prefixes are not looked up.
   */
  ranked(): { ranked: Match[]; overflowing: number[] } {
    const whole = [...this.#matched(this.#wholeQuery, this.#ranges)];
    const full = new Map(whole.filter(([, ids]) => ids.length > RANKED));
    const matched =
      this.#query.last?.join(' ') === this.#words.at(-1)
        ? whole.filter(([no]) => !full.has(no))
        : this.#matched(this.#query, rangesWithout(this.#ranges, [...full.keys()]));
    const chosen: number[] = [];
    const overflowing: number[] = [];
    for (const [no, ids] of [...full, ...matched]) {
      if (ids.length > RANKED) overflowing.push(no);
      const query = full.has(no) ? this.#wholeQuery : this.#query;
      chosen.push(...(ids.length > RANKED ? this.#bestOf(no, ids, query) : ids));
    }
    overflowing.sort((a, b) => this.#order.get(a)! - this.#order.get(b)!);
    return { ranked: this.#sorted(this.#scored(chosen)), overflowing };
  }

  /**
   * Matches of an overflowing resource that were not scored: up to `count` after the first `skip`, and their number.
   */
  unranked(no: number, skip: number, count: number): { ids: number[]; count: number } {
    const scored = this.#best.get(no)!;
    const ids: number[] = [];
    let seen = 0;
    for (const id of this.#each(this.#query, ...rangeOf(no))) {
      if (scored.has(id)) continue;
      seen += 1;
      if (seen > skip) ids.push(id);
      if (ids.length === count) break;
    }
    return { ids, count: seen };
  }

  /** Fewest mistakes first. */
  mistyped(catalogue: Catalogue): Match[] {
    const candidates = typoCandidates(catalogue, this.#words, (no) => this.#order.has(no));
    const matches: Match[] = [];
    for (const id of candidates) {
      const entry = this.#entry(id);
      const typos = entry && typosIn(entry, this.#words, (at) => this.#standsBehind(id, entry, at));
      if (typos !== null) matches.push({ id, score: typoScore(typos) });
    }
    return this.#sorted(matches);
  }

  /** Whether a word occurs in the rest of a long text, decided without reading it. */
  #standsBehind(id: number, { body }: Entry, at: number): boolean {
    // The head may be one UTF-16 unit shorter, for a surrogate pair.
    if (body.length < HEAD_CHARACTERS - 1) return false;
    const word = this.#words[at]!;
    if (at === this.#words.length - 1) return frequencyOf(foldText(this.#rest(id)), word, true) > 0;
    const query = { words: [word], last: [word], isRead: false };
    return this.#ids(textOf(query), query, id, id, 1).length > 0;
  }

  describe({ id, score }: Match): FoundEntry {
    const no = resourceNoOf(id);
    const isRow = this.#columnsOf(no) !== null && rowOf(id) > 0;
    const entry = this.#entry(id) ?? { title: '', anchor: null, body: '' };
    return {
      no,
      rowId: isRow ? rowOf(id) : null,
      title: entry.title,
      anchor: entry.anchor,
      snippet: this.#snippet(id, entry.body),
      score,
    };
  }

  /** By resource, in the order of entries; more than RANKED of one are cut after one more. */
  *#matched(query: IndexQuery, ranges: readonly Range[]): Generator<[number, number[]]> {
    const batch = RANKED + 1;
    const text = textOf(query);
    for (const [first, last] of ranges) {
      for (let from = first; from <= last;) {
        const ids = this.#ids(text, query, from, last, batch);
        const groups = [...Map.groupBy(ids, resourceNoOf)];
        const isAll = ids.length < batch;
        // The last resource of a full batch may have more: it is read again from its start, unless it fills the
        // batch.
        const cut = isAll || groups.length === 1 ? groups.length : groups.length - 1;
        yield* groups.slice(0, cut);
        if (isAll) break;
        from = cut < groups.length ? rangeOf(groups[cut]![0])[0] : rangeOf(groups[0]![0] + 1)[0];
      }
    }
  }

  /** Of too many matches those with a word in the title first, then in file order. */
  #bestOf(no: number, ids: readonly number[], query: IndexQuery): number[] {
    const [first, last] = rangeOf(no);
    const isShort = this.#words.at(-1)!.length < MIN_TITLE_BEGINNING;
    const inTitle = textOf(isShort ? this.#wholeQuery : query, { mark: TITLE_MARK, by: 'OR' });
    const titled = `${textOf(query)} AND (${inTitle})`;
    const chosen = new Set(
      query.isRead
        ? this.#read(first, last, true).take(RANKED)
        : this.#ids(titled, query, first, last, RANKED),
    );
    for (const id of ids) {
      if (chosen.size >= RANKED) break;
      chosen.add(id);
    }
    this.#best.set(no, chosen);
    return [...chosen];
  }

  #ids(text: string, query: IndexQuery, first: number, last: number, limit: number): number[] {
    if (query.isRead) return [...this.#read(first, last).take(limit)];
    const rows = this.#db
      .query('SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?')
      .values(text, first, last, limit) as [number][];
    return rows.map(([id]) => id);
  }

  *#each(query: IndexQuery, first: number, last: number): Generator<number> {
    if (query.isRead) return yield* this.#read(first, last);
    const rows = this.#db
      .query<{ rowid: number }, [string, number, number]>(
        'SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?',
      )
      .iterate(textOf(query), first, last);
    for (const { rowid } of rows) yield rowid;
  }

  /**
   * Matches found in the texts of the entries, without the index; with `isTitled` only those with one of the words in
   * the title.
   */
  *#read(first: number, last: number, isTitled = false): Generator<number> {
    const words = this.#words;
    const rows = this.#db
      .query<{ id: number; title: string | null; text: string }, [string, number, number]>(
        ENTRIES_WITH,
      )
      .iterate(words.at(-1)!, first, last);
    for (const { id, title, text } of rows) {
      const names = title === null ? this.#columnsOf(resourceNoOf(id))?.join(' ') : title;
      if (!hasWords(`${names ?? ''} ${text}`, words)) continue;
      if (!isTitled || isAnyIn(foldText(title ?? firstCell(text)), words)) yield id;
    }
  }

  #scored(ids: readonly number[]): Match[] {
    const matches: Match[] = [];
    for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
      const list = JSON.stringify(ids.slice(start, start + READ_AT_ONCE));
      // One by one they would take three times as long.
      const rows = this.#db
        .query(
          'SELECT id, title, size, body FROM entries WHERE id IN (SELECT value FROM json_each(?))',
        )
        .values(list) as [number, string | null, number, string][];
      for (const [id, given, size, text] of rows) {
        // Column names are left out: they are the same for all rows.
        const body = foldText(text);
        const title = given === null ? firstCell(body) : foldText(given);
        matches.push({ id, score: scoreOf({ title, body, size }, this.#words) });
      }
    }
    return matches;
  }

  #sorted(matches: Match[]): Match[] {
    const order = this.#order;
    return matches.sort(
      (a, b) =>
        b.score - a.score ||
        order.get(resourceNoOf(a.id))! - order.get(resourceNoOf(b.id))! ||
        a.id - b.id,
    );
  }

  #entry(id: number): Entry | null {
    const stored = this.#entries.values(id)[0];
    if (stored === undefined) return null;
    const [title, anchor, body] = stored as [string | null, string | null, string];
    const columns = this.#columnsOf(resourceNoOf(id));
    if (title !== null || columns === null) return { title: title ?? '', anchor, body };
    return { ...unpackRow(body, columns), anchor };
  }

  #snippet(id: number, body: string): SnippetPart[] {
    const parts = snippetOf(body, this.#words);
    if (parts.some(({ isHit }) => isHit)) return parts;
    const rest = this.#rest(id);
    return rest === '' ? parts : snippetOf(body + rest, this.#words);
  }

  #rest(id: number): string {
    const rest = this.#db.query('SELECT rest FROM entries WHERE id = ?').values(id)[0]?.[0];
    return typeof rest === 'string' ? rest : '';
  }

  /** Null for a document. */
  #columnsOf(no: number): readonly string[] | null {
    let columns = this.#columns.get(no);
    if (columns === undefined) {
      const stored = this.#db.query('SELECT columns FROM resources WHERE no = ?').values(no)[0];
      const text = stored?.[0];
      columns = typeof text === 'string' ? (JSON.parse(text) as string[]) : null;
      this.#columns.set(no, columns);
    }
    return columns;
  }
}

function isAnyIn(folded: string, words: readonly string[]): boolean {
  return words.some((word, at) => frequencyOf(folded, word, at === words.length - 1) > 0);
}

interface IndexQuery {
  readonly words: readonly string[];
  /** What the last word may be; null: all words it begins. */
  readonly last: readonly string[] | null;
  /** Reads the texts the caller may see instead of the index. */
  readonly isRead: boolean;
}

/** Words hold letters, digits and `_` only, so that quoted they have no special meaning in FTS5. */
function textOf({ words, last }: IndexQuery, { mark, by } = { mark: '', by: 'AND' }): string {
  const quoted = (word: string): string => `"${mark}${word}"`;
  const phrases = words.slice(0, -1).map(quoted);
  const end = last?.map(quoted).join(' OR ') ?? `${quoted(words.at(-1)!)}*`;
  return [...phrases, last !== null && last.length > 1 ? `(${end})` : end].join(` ${by} `);
}

/**
 * The index words with this prefix; null when it is short, or there are none or too many. For a prefix SQLite reads
 * the lists of all its words to the end; for a few explicit words it reads only where the others occur.
 */
function wordsBegunWith(db: Database, beginning: string): readonly string[] | null {
  if (beginning.length < MIN_EXPANDED) return null;
  const nextWord = db.query(`SELECT term FROM ${WORD_PLACES} WHERE term >= ? LIMIT 1`);
  const found: string[] = [];
  for (let from = beginning; ;) {
    const term = nextWord.values(from)[0]?.[0];
    if (typeof term !== 'string' || !term.startsWith(beginning)) break;
    if (found.length === MAX_EXPANDED) return null;
    found.push(term);
    // A blank sorts before every character of words.
    from = `${term} `;
  }
  // A letter that SQLite folds differently is in no word of ours: SQLite then searches by prefix itself.
  return found.length === 0 ? null : found;
}

function hidesSome(db: Database, resources: readonly number[]): boolean {
  const live = db.query("SELECT count(*) FROM resources WHERE state = 'live'").values()[0]?.[0];
  return resources.length < Number(live);
}

function isFrequent(db: Database, beginning: string): boolean {
  if (beginning.length < MIN_EXPANDED) return false;
  const places = db
    .query(
      `SELECT count(*) FROM (SELECT 1 FROM ${WORD_PLACES} WHERE term >= ?1 AND term <= ?1 || char(1114111) LIMIT ?2)`,
    )
    .values(beginning, MAX_MERGED + 1)[0]?.[0];
  return Number(places) > MAX_MERGED;
}

function rangesOf(resources: readonly number[]): Range[] {
  const ranges: [number, number][] = [];
  for (const no of resources.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    const [first, end] = rangeOf(no);
    if (last !== undefined && last[1] + 1 === first) last[1] = end;
    else ranges.push([first, end]);
  }
  return ranges;
}

function rangesWithout(ranges: readonly Range[], nos: readonly number[]): readonly Range[] {
  return nos.reduce<readonly Range[]>((left, no) => {
    const [first, last] = rangeOf(no);
    return left.flatMap(([from, to]) => {
      const before: Range = [from, Math.min(to, first - 1)];
      const after: Range = [Math.max(from, last + 1), to];
      return [before, after].filter(([start, end]) => start <= end);
    });
  }, ranges);
}
