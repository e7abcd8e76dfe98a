/** Each job is short, so that a change of one row never waits long: large datasets are read in slices. */
import { readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { CopyRows } from '../tables/copy/copy-rows.ts';
import { Catalogue } from './catalogue.ts';
import { MAX_ROW_ID } from './entry-id.ts';
import { type DocumentEntry, IndexWriter } from './index-writer.ts';

const ROWS_PER_STEP = 1_000;
/** Commits cost too much for much shorter slices. */
const SLICE_MS = 150;
const CLEARED_AT_ONCE = 2_000;

interface RowsOrder {
  readonly no: number;
  readonly copy: string;
  /** Rows up to this id are done. */
  readonly after: number;
  /** Rows that may still be added. */
  readonly room: number;
}

interface FinishOrder {
  readonly no: number;
  readonly version: string;
  readonly dataset: DocumentEntry;
  readonly leftOut: number;
}

/** `file` holds the sections as JSON and is deleted. */
interface DocumentOrder {
  readonly key: string;
  readonly version: string;
  readonly file: string | null;
  /** For sections without one. */
  readonly title: string;
  readonly name: string;
  readonly maxBytes: number;
}

interface EditOrder {
  readonly no: number;
  readonly copy: string;
  readonly put: readonly number[];
  readonly remove: readonly number[];
  /** Null while the range is still being built. */
  readonly version: string | null;
}

const on = <Order, Answer>(work: (index: IndexWriter, order: Order) => Answer) => work;

/** The order goes over as JSON; `index-client.ts` has these as calls. */
function indexWork() {
  let copy: CopyRows | null = null;
  const copyAt = (path: string): CopyRows => {
    if (copy?.path !== path) {
      copy?.close();
      copy = null;
      copy = new CopyRows(path);
    }
    return copy;
  };
  return {
    live: on((index) => index.live()),
    reset: on((index) => index.reset()),
    begin: on((index, order: { readonly key: string; readonly copy: string }) =>
      index.begin(order.key, copyAt(order.copy).names, basename(order.copy)),
    ),
    rows: on((index, order: RowsOrder) => takeRows(index, copyAt(order.copy), order)),
    finish: on((index, { no, version, dataset, leftOut }: FinishOrder) => {
      copy?.close();
      copy = null;
      index.finish(no, version, dataset, leftOut);
    }),
    document: on(takeDocument),
    /** By how many entries the range grew. */
    edit: on((index, { no, copy: path, put, remove, version }: EditOrder) => {
      const rows = copyAt(path);
      const change = { put: rows.named(put.filter((id) => id <= MAX_ROW_ID)), remove };
      const count = index.changeRows(no, rows.names, change);
      if (version !== null) index.setVersion(no, version);
      return count;
    }),
    version: on((index, order: { readonly no: number; readonly version: string }) =>
      index.setVersion(order.no, order.version),
    ),
    abandon: on((index, { nos }: { readonly nos: readonly number[] }) => index.abandon(nos)),
    /** False when none are left. */
    clear: on((index) => {
      const endsAt = performance.now() + SLICE_MS;
      while (performance.now() < endsAt) if (!index.clear(CLEARED_AT_ONCE)) return false;
      return true;
    }),
    tidy: on(async (index, { snapshot }: { readonly snapshot: string }) => {
      index.tidy();
      const catalogue = new Catalogue(snapshot);
      // A snapshot older than the index would make the next start read it again.
      await (catalogue.follow(index.db) ? catalogue.save() : catalogue.confirm());
    }),
  };
}

export type IndexWork = ReturnType<typeof indexWork>;

type Job = (body: unknown) => Promise<Response>;

export function indexJobs(): Record<string, Job> {
  let writer: IndexWriter | null = null;
  const indexAt = (path: string): IndexWriter => {
    if (writer?.path !== path) {
      writer?.close();
      writer = new IndexWriter(path);
    }
    return writer;
  };
  const jobs: [string, (index: IndexWriter, order: never) => unknown][] =
    Object.entries(indexWork());
  return Object.fromEntries(
    jobs.map(([name, work]) => [
      name,
      async (body: unknown) => {
        const { path, ...order } = body as { path: string };
        return Response.json((await work(indexAt(path), order as never)) ?? null);
      },
    ]),
  );
}

function takeRows(index: IndexWriter, copy: CopyRows, order: RowsOrder) {
  const endsAt = performance.now() + SLICE_MS;
  let last = order.after;
  let count = 0;
  let isDone = false;
  // One transaction: every commit adds a segment to the word index that has to be merged later.
  const rows = function* () {
    while (!isDone && performance.now() < endsAt) {
      const wanted = Math.min(ROWS_PER_STEP, order.room - count);
      const step = wanted > 0 ? copy.after(last, wanted) : [];
      for (const row of step) {
        if (row[0] > MAX_ROW_ID) break;
        last = row[0];
        count += 1;
        yield row;
      }
      isDone = step.length < ROWS_PER_STEP;
    }
  };
  index.changeRows(order.no, copy.names, { put: rows(), remove: [] });
  return { last, count, isDone };
}

function takeDocument(index: IndexWriter, order: DocumentOrder) {
  const { key, version, file, title, name, maxBytes } = order;
  const sections =
    file === null ? [] : (JSON.parse(readFileSync(file, 'utf8')) as readonly DocumentEntry[]);
  if (file !== null) rmSync(file, { force: true });
  const named: DocumentEntry[] =
    sections.length === 0
      ? [{ title: name, anchor: null, text: '' }]
      : sections.map((section) => ({
          title: section.title === '' ? title : section.title,
          anchor: section.anchor,
          text: cutOff(section.text, maxBytes),
        }));
  return { no: index.replaceDocument(key, version, named), documents: named.length };
}

/** Cuts at a number of UTF-8 bytes, without a broken character at the end. */
function cutOff(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text.toWellFormed();
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return bytes.toString();
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
