/**
 * Published files that are no datasets: their bytes, and what is made of them (rendered pages, media metadata).
 *
 * What is made is remembered with the stamp of the version it was made from and the file's stamp is asked on every read
 * (DS-143), so a stale page is never shown. Making runs in the parse worker under a time limit.
 */
import { AppError } from '../base/errors.ts';
import { type FileStamp, isRacy, sameStamp } from '../base/file-stamp.ts';
import { Lru } from '../base/lru.ts';
import { isUtf8Text } from '../base/text-bytes.ts';
import type { CacheEntries, CacheKind } from './cache.ts';
import type { DocumentRoot } from './document-root.ts';
import type { KindTable } from './kind-table.ts';
import type { Family, MediaMetadata, PictureSize, RenderedDocument } from './kind.ts';
import { openForRead, type OpenedFile } from './opener.ts';
import type { Resource } from './registry.ts';

/** A larger Markdown file is a data file: 2 MiB take some seconds. */
export const MAX_RENDER_BYTES = 2 * 1024 * 1024;
/** After which a document counts as made to be hard to read. */
const RENDER_TIMEOUT_MS = 5_000;
const METADATA_TIMEOUT_MS = 5_000;
/** A header is there at once; a worker that is busy may take longer. */
const PICTURE_TIMEOUT_MS = 5_000;
/** Things remembered; a page is about as large as its source, metadata with a cover up to 1.4 MB. */
const MAX_REMEMBERED = 200;
const MAX_REMEMBERED_BYTES = 64 * 1024 * 1024;

/** Looked at to tell the encoding of a text. */
const SAMPLE_BYTES = 64 * 1024;
const MAX_ENCODINGS = 10_000;
const MAX_PICTURES = 10_000;

/** Jobs of the parse worker. */
export type DocumentJobName = 'render' | 'metadata' | 'picture';

interface DocumentsOptions {
  readonly root: DocumentRoot;
  readonly kindOf: KindTable;
  readonly cache: CacheEntries;
  /** Asks the worker; answers JSON text. Throws what the job threw, and `timed-out`. */
  readonly run: (
    job: DocumentJobName,
    resource: Resource,
    limits: { readonly timeoutMs: number; readonly maxBytes: number },
  ) => Promise<string>;
}

/** The version of a file that something was made from. */
interface Version {
  readonly stamp: FileStamp;
  /** Wall clock when the stamp was taken, in ms. */
  readonly takenAt: number;
}

interface Remembered extends Version {
  readonly json: string;
}

/** The documents of one server. */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #making = new Map<string, Promise<string>>();
  readonly #remembered = new Lru<string, Remembered>(
    MAX_REMEMBERED,
    (_, { json }) => (this.#bytes -= json.length),
  );
  readonly #encodings = new Lru<string, Version & { isUtf8: boolean }>(MAX_ENCODINGS);
  readonly #pictures = new Lru<string, Version & { size: PictureSize | null }>(MAX_PICTURES);
  #bytes = 0;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    options.cache.onForget((rel) => this.#forget(rel));
  }

  /**
   * Where a file of this name answers, whether it exists or not: the family of its kind; null for what is not published
   * and for handlers, which have no page.
   */
  familyOf(rel: string): Family | null {
    const kind = this.#options.kindOf(rel);
    return kind === undefined || kind.type === 'handler' ? null : kind.family;
  }

  /** The file, open for reading; the caller closes it. Throws as `openForRead`. */
  async open({ rel }: Resource): Promise<OpenedFile> {
    return openForRead(this.#options.root, rel);
  }

  /** Whether a text is UTF-8, judging by its first 64 KiB; remembered for the version that was opened. */
  async isUtf8({ rel, type }: Resource, file: OpenedFile): Promise<boolean> {
    const takenAt = Date.now();
    let known = this.#encodings.get(rel);
    if (!isOf(known, file)) {
      const sample = await file.read(0, Math.min(file.size, SAMPLE_BYTES));
      const isUtf8 = isUtf8Text(sample, sample.length < file.size);
      known = { stamp: file.stamp, takenAt, isUtf8 };
      this.#encodings.set(rel, known);
    }
    if (type === 'html') this.#options.cache.note('html', rel);
    return known.isUtf8;
  }

  /**
   * The present version as a page. Throws `not-found`, `unreadable-file`, and `too-large` for what takes too long or too
   * much to render.
   */
  async rendered(resource: Resource): Promise<RenderedDocument> {
    const json = await this.#read('markdown', 'render', resource, {
      timeoutMs: RENDER_TIMEOUT_MS,
      maxBytes: MAX_RENDER_BYTES,
    });
    return JSON.parse(json) as RenderedDocument;
  }

  /** What the present version says about itself. Throws `unreadable-file` when it is no such file, and `not-found`. */
  async metadata(resource: Resource): Promise<MediaMetadata> {
    const json = await this.#read('media_meta', 'metadata', resource, {
      timeoutMs: METADATA_TIMEOUT_MS,
      maxBytes: 0,
    });
    return JSON.parse(json) as MediaMetadata;
  }

  /** How much room the present version takes in a page; null for what is no picture or cannot be read. Throws `not-found`. */
  async pictureSize(resource: Resource): Promise<PictureSize | null> {
    if (resource.kind.pictureSize === undefined) return null;
    const { rel } = resource;
    const takenAt = Date.now();
    const file = await this.open(resource);
    await file.close();
    const known = this.#pictures.get(rel);
    if (isOf(known, file)) return known.size;
    const limits = { timeoutMs: PICTURE_TIMEOUT_MS, maxBytes: 0 };
    const size = JSON.parse(
      await this.#options.run('picture', resource, limits),
    ) as PictureSize | null;
    this.#pictures.set(rel, { stamp: file.stamp, takenAt, size });
    return size;
  }

  async #read(
    kind: CacheKind,
    job: DocumentJobName,
    resource: Resource,
    limits: { readonly timeoutMs: number; readonly maxBytes: number },
  ): Promise<string> {
    const { rel } = resource;
    const key = `${kind}:${rel}`;
    const takenAt = Date.now();
    const file = await this.open(resource);
    await file.close();
    const known = this.#remembered.get(key);
    if (isOf(known, file)) {
      this.#options.cache.note(kind, rel);
      return known.json;
    }
    const { inode, size, mtimeNs, ctimeNs } = file.stamp;
    const version = `${key}\0${inode}.${size}.${mtimeNs}.${ctimeNs}`;
    // Whoever asks for the same version meanwhile waits for the one answer.
    const made = this.#making.get(version) ?? this.#make(job, resource, limits);
    this.#making.set(version, made);
    try {
      const json = await made;
      await this.#remember(key, resource, { stamp: file.stamp, takenAt, json });
      this.#options.cache.note(kind, rel);
      return json;
    } finally {
      this.#making.delete(version);
    }
  }

  async #make(
    job: DocumentJobName,
    resource: Resource,
    limits: { readonly timeoutMs: number; readonly maxBytes: number },
  ): Promise<string> {
    try {
      return await this.#options.run(job, resource, limits);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'timed-out') throw error;
      const text = `'${resource.rel}' takes too long to be shown as a page; download it`;
      throw new AppError('too-large', text, { cause: error });
    }
  }

  /** Keeps what was made, unless the file changed meanwhile: the worker may have seen either version. */
  async #remember(key: string, resource: Resource, made: Remembered): Promise<void> {
    const now = await this.open(resource);
    await now.close();
    const { length } = made.json;
    if (!sameStamp(now.stamp, made.stamp) || length > MAX_REMEMBERED_BYTES / 4) return;
    this.#drop(key);
    this.#remembered.set(key, made);
    this.#bytes += length;
    for (const [oldest] of this.#remembered.entries()) {
      if (this.#bytes <= MAX_REMEMBERED_BYTES) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const known = this.#remembered.get(key);
    if (known === undefined) return;
    this.#remembered.delete(key);
    this.#bytes -= known.json.length;
  }

  #forget(rel: string | null): void {
    for (const known of [this.#encodings, this.#pictures]) {
      if (rel === null) known.clear();
      else known.delete(rel);
    }
    for (const [key] of [...this.#remembered.entries()]) {
      if (rel === null || key.slice(key.indexOf(':') + 1) === rel) this.#drop(key);
    }
  }
}

/** Whether something was made from the version that was opened. No stamp of a file that was just written proves that. */
function isOf<T extends Version>(known: T | undefined, file: OpenedFile): known is T {
  return (
    known !== undefined && sameStamp(known.stamp, file.stamp) && !isRacy(known.stamp, known.takenAt)
  );
}
