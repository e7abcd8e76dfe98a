/**
 * One ranked list over rows and documents, as the `search` job of the query worker.
 *
 * Rights are ranges of entries in the index query itself, so the amount of what a caller may not read does not show
 * in the time of a search. Of each resource at most RANKED matches are scored; the others follow all scored ones in
 * file order. So what else the caller may read does not matter, and a word in a million rows costs no more than one
 * in a thousand.
 */
import type { Database, Statement } from 'bun:sqlite';
import type { CopyRows, RowTexts } from '../tables/copy/copy-rows.ts';
import { foldText, hasWords } from '../tables/filter/words.ts';
import { frequencyOf } from './occurrences.ts';
import { entryId, rangeOf, resourceNoOf, rowOf } from './entry-id.ts';
import type { Catalogue } from './catalogue.ts';
import type { Datasets } from './datasets.ts';
import { ALL_NAMES, HEAD_CHARACTERS, TITLE_MARK, WORD_PLACES } from './index-file.ts';
import { hasEntry } from './index-writer.ts';
import { rowText, scoredText } from './row-text.ts';
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
/** Regardless of rights; takes SQLite less than a ms. */
const MAX_MERGED = 2_000;

/** Entries of a range that may have a word with a prefix; SQLite decides that for plain ASCII only. */
const ENTRIES_WITH = `
  SELECT id, title, body || coalesce(rest, '') AS text FROM entries
  WHERE id BETWEEN ?2 AND ?3 AND (
    instr(lower(body), ?1) OR length(body) <> octet_length(body) OR rest IS NOT NULL
    OR instr(lower(title), ?1) OR length(title) <> octet_length(title)
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
  /** Numbers of resources with matches whose rows could not be read. */
  readonly unread: readonly number[];
}

export interface TextSources {
  /** Called only when there are too few exact matches. */
  readonly catalogue: () => Catalogue;
  readonly datasets: Datasets;
  /** The typed copy of that file name; null: it is gone. */
  readonly copyAt: (name: string) => CopyRows | null;
}

interface Match {
  readonly id: number;
  readonly score: number;
}

/** The caller holds a read transaction. */
export function find(db: Database, request: FindRequest, sources: TextSources): FoundPage {
  const matches = new Matches(db, request, sources);
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
    const typos = matches.mistyped(sources.catalogue());
    ids.push(...typos.slice(Math.max(0, request.offset - seen), wanted - seen));
  }
  const hits = ids.slice(0, request.limit).map((match) => matches.describe(match));
  return { hits, hasMore: ids.length > request.limit, unread: [...matches.unread] };
}

type Range = readonly [number, number];

/** Which words of the query stand in names of columns: each as a whole one, and the last as a beginning. */
interface Named {
  readonly whole: readonly boolean[];
  readonly begun: boolean;
}

/** Resources alike in that. */
interface Group {
  readonly named: Named;
  readonly ranges: readonly Range[];
}

interface Entry {
  readonly title: string;
  readonly anchor: string | null;
  readonly body: string;
}

class Matches {
  readonly #db: Database;
  readonly #words: readonly string[];
  readonly #order: ReadonlyMap<number, number>;
  readonly #groups: readonly Group[];
  readonly #query: IndexQuery;
  readonly #wholeQuery: IndexQuery;
  readonly #entries: Statement;
  readonly #copyAt: TextSources['copyAt'];
  readonly #datasets: Datasets;
  readonly #scoredTexts = new Map<number, RowTexts>();
  readonly unread = new Set<number>();
  readonly #best = new Map<number, ReadonlySet<number>>();

  constructor(db: Database, { words, resources }: FindRequest, sources: TextSources) {
    this.#db = db;
    this.#copyAt = sources.copyAt;
    this.#datasets = sources.datasets;
    this.#datasets.follow(db);
    this.#entries = db.query('SELECT title, anchor, body FROM entries WHERE id = ?');
    this.#words = words;
    this.#order = new Map(resources.map((no, index) => [no, index]));
    const alike = Map.groupBy(resources, (no) => JSON.stringify(this.#namedIn(no)));
    this.#groups = [...alike.values()].map((nos) => ({
      named: this.#namedIn(nos[0]!),
      ranges: rangesOf(nos),
    }));
    const beginning = words.at(-1)!;
    this.#wholeQuery = { words, last: [beginning], isWhole: true, isRead: false };
    const last = wordsBegunWith(db, beginning);
    const isRead = last === null && hidesSome(db, resources) && isFrequent(db, beginning);
    this.#query = { words, last, isWhole: false, isRead };
  }

  #namedIn(no: number): Named {
    const names = this.#datasets.of(no)?.nameWords;
    if (names === undefined) return UNNAMED;
    const whole = this.#words.map((word) => names.includes(word));
    const begun = whole.at(-1)! || names.some((name) => name.startsWith(this.#words.at(-1)!));
    return begun || whole.includes(true) ? { whole, begun } : UNNAMED;
  }

  /**
   * Best first, and the resources that have more, in their order. When whole words alone give enough, or no longer
   * word begins with the last one, prefixes are not looked up.
   */
  ranked(): { ranked: Match[]; overflowing: number[] } {
    const whole = [...this.#matched(this.#wholeQuery, this.#groups)];
    const full = new Map(whole.filter(([, ids]) => ids.length > RANKED));
    const isNoBeginning =
      this.#query.last?.join(' ') === this.#words.at(-1) &&
      this.#groups.every(({ named }) => named.begun === (named.whole.at(-1) ?? false));
    const matched = isNoBeginning
      ? whole.filter(([no]) => !full.has(no))
      : this.#matched(
          this.#query,
          this.#groups.map(({ named, ranges }) => ({
            named,
            ranges: rangesWithout(ranges, [...full.keys()]),
          })),
        );
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

  /** Of an overflowing resource: up to `count` after the first `skip`, and their number. */
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
    const query = { words: [word], last: [word], isWhole: true, isRead: false };
    return this.#ids(textOf(query, UNNAMED), query, id, id, 1).length > 0;
  }

  describe({ id, score }: Match): FoundEntry {
    const no = resourceNoOf(id);
    const isRow = this.#isRow(id);
    // Of a row that cannot be read, the title of its dataset.
    const entry = this.#entry(id) ?? { ...this.#entry(entryId(no, 0)), anchor: null, body: '' };
    return {
      no,
      rowId: isRow ? rowOf(id) : null,
      title: entry.title ?? '',
      anchor: entry.anchor,
      snippet: this.#snippet(id, entry.body),
      score,
    };
  }

  /** By resource, in the order of entries; more than RANKED of one are cut after one more. */
  *#matched(query: IndexQuery, groups: readonly Group[]): Generator<[number, number[]]> {
    for (const { named, ranges } of groups) yield* this.#matchedIn(ranges, query, named);
  }

  *#matchedIn(
    ranges: readonly Range[],
    query: IndexQuery,
    named: Named,
  ): Generator<[number, number[]]> {
    const batch = RANKED + 1;
    const text = textOf(query, named);
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
    const ofTitle = { mark: TITLE_MARK, by: 'OR' };
    const inTitle = textOf(isShort ? this.#wholeQuery : query, UNNAMED, ofTitle);
    const titled = `${textOf(query, this.#namedIn(no))} AND (${inTitle})`;
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
      .iterate(textOf(query, this.#namedIn(resourceNoOf(first))), first, last);
    for (const { rowid } of rows) yield rowid;
  }

  /**
   * Matches found in the texts of entries and rows, without the index; with `isTitled` only those with one of the words
   * in the title.
   */
  *#read(first: number, last: number, isTitled = false): Generator<number> {
    const words = this.#words;
    const isMatch = ({ title, body }: Pick<Entry, 'title' | 'body'>): boolean =>
      hasWords(`${title} ${body}`, words) && (!isTitled || isAnyIn(foldText(title), words));
    const from = resourceNoOf(first);
    const to = resourceNoOf(last);
    const nos = [...this.#order.keys()].filter((no) => no >= from && no <= to);
    for (const no of nos.sort((a, b) => a - b)) {
      const [start, end] = rangeOf(no);
      const entries = this.#db
        .query<{ id: number; title: string; text: string }, [string, number, number]>(ENTRIES_WITH)
        .iterate(words.at(-1)!, Math.max(first, start), Math.min(last, end));
      for (const { id, title, text } of entries) if (isMatch({ title, body: text })) yield id;
      const rows = this.#datasets.of(no);
      if (rows === null) continue;
      const firstRow = Math.max(1, first - start);
      const lastRow = Math.min(last, end) - start;
      for (const [rowId, ...cells] of this.#mayHave(no, firstRow, lastRow)) {
        const id = entryId(no, rowId);
        // Rows past the configured limit are not in the index.
        if (isMatch(rowText(cells, rows.columns)) && hasEntry(this.#db, id)) yield id;
      }
    }
  }

  *#mayHave(no: number, first: number, last: number): Generator<RowTexts> {
    try {
      const rows = this.#copyAt(this.#datasets.of(no)!.copy);
      if (rows === null) this.unread.add(no);
      else yield* rows.mayHave(this.#words.at(-1)!, first, last);
    } catch {
      this.unread.add(no);
    }
  }

  #scored(ids: readonly number[]): Match[] {
    const matches: Match[] = [];
    for (const [no, some] of Map.groupBy(ids, (id) => (this.#isRow(id) ? resourceNoOf(id) : 0))) {
      if (no === 0) matches.push(...this.#scoredEntries(some));
      else matches.push(...this.#scoredRows(no, some));
    }
    return matches;
  }

  #scoredEntries(ids: readonly number[]): Match[] {
    const matches: Match[] = [];
    for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
      const list = JSON.stringify(ids.slice(start, start + READ_AT_ONCE));
      // One by one they would take three times as long.
      const rows = this.#db
        .query(
          'SELECT id, title, size, body FROM entries WHERE id IN (SELECT value FROM json_each(?))',
        )
        .values(list) as [number, string, number, string][];
      for (const [id, title, size, text] of rows) {
        const folded = { title: foldText(title), body: foldText(text), size };
        matches.push({ id, score: scoreOf(folded, this.#words) });
      }
    }
    return matches;
  }

  #scoredRows(no: number, ids: readonly number[]): Match[] {
    const { columns } = this.#datasets.of(no)!;
    const scores = new Map<number, number>();
    for (const row of this.#named(no, ids.map(rowOf))) {
      const id = entryId(no, row[0]);
      const { title, body, size } = scoredText(row, columns);
      const folded = { title: foldText(title), body: foldText(body), size };
      scores.set(id, scoreOf(folded, this.#words));
      this.#scoredTexts.set(id, row);
    }
    return ids.map((id) => ({ id, score: scores.get(id) ?? UNRANKED }));
  }

  /** Those of the rows that can be read. */
  #named(no: number, rowIds: readonly number[]): RowTexts[] {
    try {
      const copy = this.#copyAt(this.#datasets.of(no)!.copy);
      if (copy !== null) return [...copy.named(rowIds)];
    } catch {
      // Damaged, which is found out when the table is read.
    }
    this.unread.add(no);
    return [];
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
    if (this.#isRow(id)) {
      const no = resourceNoOf(id);
      const [, ...cells] = this.#scoredTexts.get(id) ?? this.#named(no, [rowOf(id)])[0] ?? [];
      if (cells.length === 0) return null;
      return { ...rowText(cells, this.#datasets.of(no)!.columns), anchor: null };
    }
    const stored = this.#entries.values(id)[0];
    if (stored === undefined) return null;
    const [title, anchor, body] = stored as [string, string | null, string];
    return { title, anchor, body };
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

  #isRow(id: number): boolean {
    return rowOf(id) > 0 && this.#datasets.of(resourceNoOf(id)) !== null;
  }
}

function isAnyIn(folded: string, words: readonly string[]): boolean {
  return words.some((word, at) => frequencyOf(folded, word, at === words.length - 1) > 0);
}

interface IndexQuery {
  readonly words: readonly string[];
  /** What the last word may be; null: all words it begins. */
  readonly last: readonly string[] | null;
  /** The last word is no beginning. */
  readonly isWhole: boolean;
  /** Reads the texts the caller may see instead of the index. */
  readonly isRead: boolean;
}

const UNNAMED: Named = { whole: [], begun: false };

/** Words hold letters, digits and `_` only, so that quoted they have no special meaning in FTS5. */
function textOf(
  { words, last, isWhole }: IndexQuery,
  { whole, begun }: Named,
  { mark, by } = { mark: '', by: 'AND' },
): string {
  const quoted = (word: string): string => `"${mark}${word}"`;
  const orNamed = (isNamed: boolean | undefined): string[] => (isNamed ? [`"${ALL_NAMES}"`] : []);
  const phrases = words.map((word, index) => {
    if (index < words.length - 1) return [quoted(word), ...orNamed(whole[index])];
    const ends = last?.map(quoted) ?? [`${quoted(word)}*`];
    return [...ends, ...orNamed(isWhole ? whole[index] : begun)];
  });
  return phrases.map((any) => (any.length > 1 ? `(${any.join(' OR ')})` : any[0]!)).join(` ${by} `);
}

/**
 * Null when the prefix is short, or there are none or too many. For a prefix SQLite reads the lists of all its words
 * to the end; for a few explicit words only where the others occur.
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
