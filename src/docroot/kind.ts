/**
 * The plugin contract: what a folder under `plugins/` exports.
 *
 * Readers run only in the `parse` child, which may be killed at any moment; they must not keep state between calls.
 */
import type { AlertDefinition } from '../alerts/definition.ts';
import type { FileSource, HeldFile } from '../base/files/file-source.ts';
import type { DashboardPatch, Dashboard } from './dashboard.ts';
import type { FilePreview } from '../tables/infer/file-preview.ts';
import type {
  EditPlan,
  ReadOptions,
  ColumnSink,
  SourceNote,
  TableChanges,
  TableLayout,
} from '../tables/types.ts';

export type ResourceType =
  | 'csv'
  | 'excel'
  | 'parquet'
  | 'json'
  | 'sqlite'
  | 'dbf'
  | 'handler'
  | 'html'
  | 'markdown'
  | 'dashboard'
  | 'alert'
  | 'file'
  | 'media';

export type Family = 'dataset' | 'content' | 'media';

export interface KindLimits {
  /** Bytes a compressed file may expand to (`limits.max_workbook_bytes`). */
  readonly maxBytes: number;
}

/** What a reader may use besides the file itself. */
export interface KindContext extends KindLimits {
  /** The file named as this one with `suffix` behind it; null without one. The caller closes it. */
  beside(suffix: string): Promise<HeldFile | null>;
  /** A folder for files that are gone before the call ends. */
  readonly scratch: string;
}

/** A table of a file that may hold several; one its author has hidden is published only where configured. */
export type SheetName = string | { readonly hidden: string };

interface DatasetKind {
  /** Null differs from an empty text, and texts are never read as numbers. */
  readonly hasNull?: true;
  /**
   * In file order. Throws `unreadable-file` with a reason that names the place (`invalid UTF-8 at byte offset 17`)
   * and nothing of the server's paths.
   */
  read(
    source: FileSource,
    options: ReadOptions,
    sink: ColumnSink,
    context: KindContext,
  ): Promise<void>;
  /** Suffixes of files beside it that are a part of it: when one changes, so has the file. */
  readonly besides?: readonly string[];
  /**
   * Rewrites as few bytes as the format allows; pure. Absent: the kind is read-only, and `readOnlyReason` says why. A
   * file of which only its content tells that it cannot be written has a `readOnlyReason` in its layout's dialect.
   */
  edit?(
    source: FileSource,
    layout: TableLayout,
    changes: TableChanges,
    limits: KindLimits,
  ): Promise<EditPlan>;
  /** UTF-16 units of a text, where the format allows fewer than `MAX_CELL_CHARACTERS`. */
  readonly maxTextLength?: number;
  /** Every cell has a type of its own, so that an edit may keep it. */
  readonly hasTypedCells?: boolean;
  /** `edit` reads more than the touched rows, so it runs in the `parse` child too. */
  readonly editsWholeFile?: boolean;
  /**
   * In file order; absent: the file is one table. Runs in the `parse` child; throws as `read`. Each becomes a
   * resource, read with `options.sheet`.
   */
  sheets?(source: FileSource, context: KindContext): Promise<SheetName[]>;
  /** Runs in the `parse` child. Absent: there is nothing to choose. */
  preview?(source: FileSource, options: ReadOptions, context: KindContext): Promise<FilePreview>;
  /** What the schema says of how a file with this dialect is read; null: as usual. */
  source?(dialect: TableLayout['dialect']): SourceNote | null;
  /** Text of the 405 for unsafe methods, for files of this kind that cannot be written. */
  readOnlyReason?(rel: string): string | null;
}

export interface DocumentOrder {
  /** The title of a document without one, and the extension where the bytes do not tell the type. */
  readonly rel: string;
  /** Bytes to read from the start of the file; the rest is ignored. */
  readonly maxBytes: number;
}

export interface SearchSection {
  /** Before the first heading the title of the document, or its name. Never `''`. */
  readonly title: string;
  /** Null: the top of the page. */
  readonly anchor: string | null;
  /** Plain text, without markup. */
  readonly text: string;
}

interface Detection {
  /** False: published without a look at the content. */
  needsContent(rel: string): boolean;
  /**
   * Reads the content, never runs it. Runs in the `parse` child; throws `unreadable-file` for a file that is listed
   * as broken.
   */
  isPublished(source: FileSource, rel: string, options: ReadOptions): Promise<boolean>;
}

export interface OutlineEntry {
  /** 1 to 6. */
  readonly level: number;
  readonly anchor: string;
  readonly text: string;
}

export interface RenderedDocument {
  /** From the document itself; null when it has none. */
  readonly title: string | null;
  /** The body begins with a heading of level 1, so the page adds none. */
  readonly hasHeading: boolean;
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  /** Sanitised HTML: an allow list of elements, no script, no style. */
  readonly body: string;
  readonly outline: readonly OutlineEntry[];
}

/** Unknown is null. */
export interface MediaMetadata {
  /** Seconds. */
  readonly duration: number | null;
  /** Bits per second. */
  readonly bitrate: number | null;
  /** Hertz. */
  readonly sample_rate: number | null;
  readonly channels: number | null;
  /** Pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly title: string | null;
  readonly artist: string | null;
  readonly album: string | null;
  readonly genre: string | null;
  readonly thumbnail: string | null;
}

export const NO_METADATA: MediaMetadata = {
  duration: null,
  bitrate: null,
  sample_rate: null,
  channels: null,
  width: null,
  height: null,
  title: null,
  artist: null,
  album: null,
  genre: null,
  thumbnail: null,
};

/** CSS pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Run in the `parse` child; throw `unreadable-file` with the line of what is wrong. */
interface DashboardKind {
  read(source: FileSource, rel: string): Promise<Dashboard>;
  /**
   * The file's text after the patch, with comments and the order of what it does not touch. Throws `invalid-request`
   * for a patch that does not fit the file, or after which it would be no dashboard.
   */
  patch(source: FileSource, rel: string, patch: DashboardPatch): Promise<string>;
}

export interface ReadAlert {
  readonly definition: AlertDefinition;
  /** SHA-256 of the bytes that were read. */
  readonly hash: string;
}

export interface Kind {
  readonly type: ResourceType;
  readonly family: Family;
  /** Lower case, with the dot. */
  readonly extensions: readonly string[];
  readonly dataset?: DatasetKind;
  /** Absent: every file of the extensions is published. */
  readonly detection?: Detection;
  /**
   * The kind of the files that `detection` rejects; those it accepts answer at its addresses as well, so that an
   * address does not depend on the content.
   */
  readonly otherwise?: Kind;
  /**
   * Of a file that is not a dataset. Runs in the `parse` child; throws `unreadable-file`. Absent or empty: the file
   * is found by its name only.
   */
  sections?(source: FileSource, order: DocumentOrder): Promise<SearchSection[]>;
  /** Runs in the `parse` child under a time limit. Absent: the bytes are served unchanged. */
  render?(source: FileSource, order: DocumentOrder): Promise<RenderedDocument>;
  readonly dashboard?: DashboardKind;
  /** Runs in the `parse` child; throws `unreadable-file` with the lines of what is wrong. */
  alert?(source: FileSource, rel: string): Promise<ReadAlert>;
  /** As displayed; null when it is no picture. Runs in the `parse` child. */
  pictureSize?(source: FileSource): Promise<PictureSize | null>;
  /** Runs in the `parse` child; throws what its parser throws. */
  metadata?(source: FileSource, rel: string): Promise<MediaMetadata>;
}
