/**
 * The plugin contract: what a folder under `plugins/` exports to publish files of one kind.
 *
 * A kind is small and closed; optional capabilities stand beside it and the engine asks which a kind has. Readers
 * run in the `parse` child only, where they may be killed at any moment; they must not keep state between calls.
 */
import type { FileSource } from '../base/file-source.ts';
import type {
  EditPlan,
  ReadOptions,
  ColumnSink,
  TableChanges,
  TableLayout,
} from '../dataset/types.ts';

/** Resource types of DS-23. */
export type ResourceType =
  'csv' | 'excel' | 'parquet' | 'handler' | 'html' | 'markdown' | 'file' | 'media';

/** The URL prefix group a resource answers under (DS-26). */
export type Family = 'dataset' | 'content' | 'media';

/** How much a hostile file may make of itself (DS-68). */
export interface KindLimits {
  /** Bytes a compressed file may expand to (`limits.max_workbook_bytes`). */
  readonly maxBytes: number;
}

/** Tables in a file. */
export interface DatasetKind {
  /**
   * Delivers every row of the table to the sink, in file order. Throws AppError `unreadable-file` with a reason that
   * names the place (`invalid UTF-8 at byte offset 17`) and nothing of the server's paths.
   */
  read(
    source: FileSource,
    options: ReadOptions,
    sink: ColumnSink,
    limits: KindLimits,
  ): Promise<void>;
  /**
   * The new file after `changes`, touching as few bytes as the format allows (DS-86 to DS-88). Pure: reads the
   * source, writes nothing. Absent: the kind is read-only, and `readOnlyReason` says why.
   */
  edit?(
    source: FileSource,
    layout: TableLayout,
    changes: TableChanges,
    limits: KindLimits,
  ): Promise<EditPlan>;
  /** UTF-16 units a text in the file may have, where the format allows fewer than `MAX_CELL_CHARACTERS`. */
  readonly maxTextLength?: number;
  /** `edit` reads more than the touched rows, so it runs in the `parse` child too. */
  readonly editsWholeFile?: boolean;
  /**
   * Names of the tables in the file, in its own order; absent: the file is one table. Runs in the `parse` child; throws
   * as `read`. Each becomes a resource of its own, read with `options.sheet`.
   */
  sheets?(source: FileSource, limits: KindLimits): Promise<string[]>;
  /** Text of the 405 for unsafe methods (DS-66), for files of this kind that cannot be written. */
  readOnlyReason?(rel: string): string | null;
}

/** What a reader of documents must know besides the bytes. */
export interface DocumentOrder {
  /** Path in the document root: its name titles what has no title, its extension tells what the bytes do not. */
  readonly rel: string;
  /** Bytes of the file to look at, from its start; the rest is left out. */
  readonly maxBytes: number;
}

/** A part of a document the search catalogue knows by itself. */
export interface SearchSection {
  /** Heading of the part; the title of the document, or its name, for what stands before the first one. Never `''`. */
  readonly title: string;
  /** Fragment of the rendered page that leads to it; null for its top. */
  readonly anchor: string | null;
  /** Plain text, without markup. */
  readonly text: string;
}

/** How a kind tells which files of its extensions it publishes, where the name alone does not say so (DS-163). */
export interface Detection {
  /** Whether the content of a file of this name has to be looked at; without that it is published. */
  needsContent(rel: string): boolean;
  /**
   * Whether a file with this content is published. Reads, never runs it. Runs in the `parse` child; throws
   * `unreadable-file` for a file that is listed all the same, as broken.
   */
  isPublished(source: FileSource, rel: string): Promise<boolean>;
}

/** A heading of a rendered document. */
export interface OutlineEntry {
  /** 1 to 6. */
  readonly level: number;
  /** Id of the heading in the page. */
  readonly anchor: string;
  readonly text: string;
}

/** A document as a page shows it. */
export interface RenderedDocument {
  /** What the document calls itself; null when it does not. */
  readonly title: string | null;
  /** Whether the body begins with a heading of level 1, so that the page needs none of its own. */
  readonly hasHeading: boolean;
  /** Facts about the document that stand before its text, in their order. */
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  /** HTML that is safe to stand in a page of this server: an allow list of elements, no script, no style (DS-159). */
  readonly body: string;
  readonly outline: readonly OutlineEntry[];
}

/** What a media file says about itself (DS-162). Unknown is null. */
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
  /** Embedded cover art as a data URL. */
  readonly thumbnail: string | null;
}

/** Metadata of a media file that says nothing about itself. */
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

/** How much room a picture needs, in pixels of a page. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** A kind of file: its extensions, where it answers, and what can be done with it. */
export interface Kind {
  readonly type: ResourceType;
  readonly family: Family;
  /** Lower case, with the dot. */
  readonly extensions: readonly string[];
  readonly dataset?: DatasetKind;
  /** Absent: every file of the extensions is published. */
  readonly detection?: Detection;
  /**
   * What full-text search finds in a file that is not a dataset. Runs in the `parse` child; throws AppError
   * `unreadable-file`. Absent, or nothing: the file is found by its name only (DS-151).
   */
  sections?(source: FileSource, order: DocumentOrder): Promise<SearchSection[]>;
  /**
   * The document as a page. Runs in the `parse` child, which is killed when it takes too long. Absent: the bytes are
   * served as they are.
   */
  render?(source: FileSource, order: DocumentOrder): Promise<RenderedDocument>;
  /** How large a picture is, as it is shown; null for what is none. Runs in the `parse` child. */
  pictureSize?(source: FileSource): Promise<PictureSize | null>;
  /** What a media file says about itself. Runs in the `parse` child; throws what its parser throws. */
  metadata?(source: FileSource, rel: string): Promise<MediaMetadata>;
}
