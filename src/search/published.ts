/**
 * What the search asks of the parts that publish files; `app.ts` joins them.
 */
import type { FileStamp } from '../base/file-stamp.ts';
import type { Table } from '../dataset/table.ts';

/** Something published, as far as the search has to know it. */
export interface PublishedResource {
  readonly type: string;
  readonly rel: string;
  readonly sheet: string | null;
  readonly canonical: string;
  readonly extensionForm: string;
  readonly kind: { readonly dataset?: unknown; readonly sections?: unknown };
}

/** One look's worth of changes. */
interface PublishedChange {
  readonly added: readonly PublishedResource[];
  readonly changed: readonly PublishedResource[];
  readonly removed: readonly PublishedResource[];
}

/** The names and files there are. */
export interface Published {
  list(): readonly PublishedResource[];
  get(rel: string, sheet: string | null): PublishedResource | null;
  stampOf(resource: { readonly rel: string }): FileStamp | null;
  onChange(listener: (change: PublishedChange) => void): () => void;
}

/** Contents of published files. */
export interface Contents {
  /** The up-to-date typed copy of a dataset; throws as `Tables.current`. */
  table(resource: PublishedResource): Promise<Table>;
  /** Writes the sections of a document, as JSON, to the file `out`; throws as the kind. */
  sections(resource: PublishedResource, out: string): Promise<void>;
}

/** The key of a resource in the index. */
export function keyOf({ rel, sheet }: Pick<PublishedResource, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}\n${sheet}`;
}
