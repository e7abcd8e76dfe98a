/**
 * The jobs of the index worker. Each is short, so that a change of one row never waits long: large datasets are read
 * in slices, with other jobs in between.
 */
import { readFileSync, rmSync } from 'node:fs';
import { CopyRows } from '../tables/copy/copy-rows.ts';
import { Catalogue } from './catalogue.ts';
import { MAX_ROW_ID } from './entry-id.ts';
import { type DocumentEntry, IndexWriter } from './index-writer.ts';

const ROWS_PER_STEP = 1_000;
/** Commits cost too much for much shorter slices. */
const SLICE_MS = 150;
const CLEARED_AT_ONCE = 2_000;

interface IndexOrder {
  readonly path: string;
}

export interface BeginOrder extends IndexOrder {
  readonly key: string;
  readonly copy: string;
}

export interface RowsOrder extends IndexOrder {
  readonly no: number;
  readonly copy: string;
  /** Rows up to this id are done. */
  readonly after: number;
  /** Rows that may still be added. */
  readonly room: number;
}

export interface RowsAnswer {
  readonly last: number;
  readonly count: number;
  readonly isDone: boolean;
}

export interface FinishOrder extends IndexOrder {
  readonly no: number;
  readonly version: string;
  readonly dataset: DocumentEntry;
  readonly leftOut: number;
}

/** `file` holds the sections as JSON and is deleted. */
export interface DocumentOrder extends IndexOrder {
  readonly key: string;
  readonly version: string;
  readonly file: string | null;
  /** For sections without one. */
  readonly title: string;
  readonly name: string;
  readonly maxBytes: number;
}

export interface EditOrder extends IndexOrder {
  readonly no: number;
  readonly copy: string;
  readonly put: readonly number[];
  readonly remove: readonly number[];
  /** Null while the range is still being built. */
  readonly version: string | null;
}

type Job = (body: unknown) => Response | Promise<Response>;

export function indexJobs(): Record<string, Job> {
  let writer: IndexWriter | null = null;
  let copy: CopyRows | null = null;
  const indexAt = ({ path }: IndexOrder): IndexWriter => {
    if (writer?.path !== path) {
      writer?.close();
      writer = new IndexWriter(path);
    }
    return writer;
  };
  const copyAt = (path: string): CopyRows => {
    if (copy?.path !== path) {
      copy?.close();
      copy = null;
      copy = new CopyRows(path);
    }
    return copy;
  };
  const on =
    <Order extends IndexOrder>(work: (index: IndexWriter, order: Order) => unknown): Job =>
    async (body) => {
      const order = body as Order;
      return Response.json((await work(indexAt(order), order)) ?? null);
    };
  return {
    live: on((index) => index.live()),
    reset: on((index) => index.reset()),
    begin: on<BeginOrder>((index, { key, copy: path }) => index.begin(key, copyAt(path).names)),
    rows: on<RowsOrder>((index, order) => takeRows(index, copyAt(order.copy), order)),
    finish: on<FinishOrder>((index, { no, version, dataset, leftOut }) => {
      copy?.close();
      copy = null;
      index.finish(no, version, dataset, leftOut);
    }),
    document: on<DocumentOrder>(takeDocument),
    edit: on<EditOrder>((index, { no, copy: path, put, remove, version }) => {
      const rows = copyAt(path);
      const change = { put: rows.named(put.filter((id) => id <= MAX_ROW_ID)), remove };
      const count = index.changeRows(no, rows.names, change);
      if (version !== null) index.setVersion(no, version);
      return count;
    }),
    version: on<IndexOrder & { no: number; version: string }>((index, { no, version }) =>
      index.setVersion(no, version),
    ),
    abandon: on<IndexOrder & { nos: readonly number[] }>((index, { nos }) => index.abandon(nos)),
    clear: on((index) => {
      const endsAt = performance.now() + SLICE_MS;
      while (performance.now() < endsAt) if (!index.clear(CLEARED_AT_ONCE)) return false;
      return true;
    }),
    tidy: on<IndexOrder & { snapshot: string }>(async (index, { snapshot }) => {
      index.tidy();
      const catalogue = new Catalogue(snapshot);
      // A snapshot older than the index would make the next start read it again.
      await (catalogue.follow(index.db) ? catalogue.save() : catalogue.confirm());
    }),
  };
}

function takeRows(index: IndexWriter, copy: CopyRows, order: RowsOrder): RowsAnswer {
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

function takeDocument(index: IndexWriter, order: DocumentOrder): { no: number; documents: number } {
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
