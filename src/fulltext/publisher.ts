/** What the search needs of the parts that publish files; `app.ts` connects them. */
import type { FileStamp } from '../base/files/file-stamp.ts';
import type { Turn } from '../processes/turn.ts';
import type { Table } from '../tables/copy/table.ts';

export interface PublishedResource {
  readonly type: string;
  readonly rel: string;
  readonly sheet: string | null;
  readonly canonical: string;
  readonly extensionForm: string;
  readonly kind: { readonly dataset?: unknown; readonly sections?: unknown };
}

interface PublishedChange {
  readonly added: readonly PublishedResource[];
  readonly changed: readonly PublishedResource[];
  readonly removed: readonly PublishedResource[];
}

export interface Published {
  list(): readonly PublishedResource[];
  get(rel: string, sheet: string | null): PublishedResource | null;
  stampOf(resource: { readonly rel: string }): FileStamp | null;
  onChange(listener: (change: PublishedChange) => void): () => void;
}

export interface Contents {
  /** The up-to-date typed copy; throws as `Tables.current`. */
  table(resource: PublishedResource, turn: Turn): Promise<Table>;
  /** Deletes a typed copy, by file name, that another one has replaced. */
  release(copy: string): void;
  /** Writes the sections of a document as JSON to the file `out`; throws as the kind. */
  sections(resource: PublishedResource, out: string, turn: Turn): Promise<void>;
}

export function keyOf({ rel, sheet }: Pick<PublishedResource, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}\n${sheet}`;
}
