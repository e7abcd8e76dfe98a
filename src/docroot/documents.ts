/**
 * Published files that are not datasets: their bytes, and what is made of them (rendered pages, media metadata).
 *
 * Results are cached with the stamp of their file version, which is checked on every read, and made in the parse
 * worker under a time limit.
 */
import { AppError } from '../base/errors.ts';
import { CLOCK_TICK_MS, type FileStamp, isRacy, sameStamp } from '../base/files/file-stamp.ts';
import { Lru } from '../base/lru.ts';
import { TooMuchWork } from '../processes/child-job.ts';
import { isUtf8Text } from '../base/text/text-bytes.ts';
import type { CacheEntries, CacheKind } from './cache.ts';
import type { DocumentRoot } from './document-root.ts';
import type { KindTable } from './registry/kind-table.ts';
import type { Family, MediaMetadata, PictureSize, RenderedDocument } from './kind.ts';
import { openForRead, type OpenedFile } from './opener.ts';
import type { Resource } from './registry/registry.ts';

/** A larger Markdown file is a data file: 2 MiB take some seconds. */
export const MAX_RENDER_BYTES = 2 * 1024 * 1024;
const MAX_FAILURES = 10_000;
/** A page is about as large as its source, metadata with a cover up to 1.4 MB. */
const MAX_REMEMBERED = 200;
const MAX_REMEMBERED_BYTES = 64 * 1024 * 1024;

const SAMPLE_BYTES = 64 * 1024;
const MAX_ENCODINGS = 10_000;
const MAX_PICTURES = 10_000;

export type DocumentJobName = 'render' | 'metadata' | 'picture';

interface DocumentsOptions {
  readonly root: DocumentRoot;
  readonly kindOf: KindTable;
  readonly cache: CacheEntries;
  /** Answers JSON text. Throws what the job threw, and `timed-out`. */
  readonly run: (job: DocumentJobName, resource: Resource, maxBytes: number) => Promise<string>;
}

interface Version {
  readonly stamp: FileStamp;
  /** Epoch ms. */
  readonly takenAt: number;
}

interface Remembered extends Version {
  readonly json: string;
}

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #making = new Map<string, Promise<string>>();
  readonly #remembered = new Lru<string, Remembered>(
    MAX_REMEMBERED,
    (_, { json }) => (this.#bytes -= json.length),
  );
  readonly #failures = new Lru<string, Version & { error: AppError }>(MAX_FAILURES);
  readonly #encodings = new Lru<string, Version & { isUtf8: boolean }>(MAX_ENCODINGS);
  readonly #pictures = new Lru<string, Version & { size: PictureSize | null }>(MAX_PICTURES);
  #bytes = 0;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    options.cache.onForget((rel) => this.#forget(rel));
  }

  /** Existing or not; null for unpublished extensions and for handlers, which have no page. */
  familyOf(rel: string): Family | null {
    const kind = this.#options.kindOf(rel);
    return kind === undefined || kind.type === 'handler' ? null : kind.family;
  }

  /** The caller closes it. Throws as `openForRead`. */
  async open({ rel }: Resource): Promise<OpenedFile> {
    return openForRead(this.#options.root, rel);
  }

  /** Judges the first 64 KiB; cached for the version that was opened. */
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
   * Throws `not-found`, `unreadable-file`, and `too-large` when rendering takes too long or too much; a version that
   * failed is not tried again.
   */
  async rendered(resource: Resource): Promise<RenderedDocument> {
    const json = await this.#read('markdown', 'render', resource, MAX_RENDER_BYTES);
    return JSON.parse(json) as RenderedDocument;
  }

  /** Throws `unreadable-file` when the content is not of the kind, and `not-found`. */
  async metadata(resource: Resource): Promise<MediaMetadata> {
    const json = await this.#read('media_meta', 'metadata', resource, 0);
    return JSON.parse(json) as MediaMetadata;
  }

  /** Null when it is no picture or cannot be read. Throws `not-found`. */
  async pictureSize(resource: Resource): Promise<PictureSize | null> {
    if (resource.kind.pictureSize === undefined) return null;
    const { rel } = resource;
    const takenAt = Date.now();
    const file = await this.open(resource);
    await file.close();
    const known = this.#pictures.get(rel);
    if (isOf(known, file)) return known.size;
    const json = await this.#options.run('picture', resource, 0).catch((error: unknown) => {
      if (error instanceof TooMuchWork) return 'null';
      throw error;
    });
    const size = JSON.parse(json) as PictureSize | null;
    this.#pictures.set(rel, { stamp: file.stamp, takenAt, size });
    return size;
  }

  async #read(
    kind: CacheKind,
    job: DocumentJobName,
    resource: Resource,
    maxBytes: number,
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
    const failed = this.#failures.get(key);
    if (isOf(failed, file)) throw failed.error;
    const { inode, size, mtimeNs, ctimeNs } = file.stamp;
    const version = `${key}\0${inode}.${size}.${mtimeNs}.${ctimeNs}`;
    // Requests for the same version share one answer.
    const made = this.#making.get(version) ?? this.#make(job, resource, maxBytes);
    if (!isRacy(file.stamp, takenAt, CLOCK_TICK_MS)) this.#making.set(version, made);
    try {
      const json = await made;
      await this.#remember(key, resource, { stamp: file.stamp, takenAt, json });
      this.#options.cache.note(kind, rel);
      return json;
    } catch (error) {
      if (isFault(error)) this.#failures.set(key, { stamp: file.stamp, takenAt, error });
      throw error;
    } finally {
      this.#making.delete(version);
    }
  }

  async #make(job: DocumentJobName, resource: Resource, maxBytes: number): Promise<string> {
    try {
      return await this.#options.run(job, resource, maxBytes);
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      const text = `'${resource.rel}' takes too long to be shown as a page; download it, or see its text with ?source=1`;
      throw new AppError('too-large', text, { cause: error });
    }
  }

  /** Not when the file changed meanwhile: the worker may have seen either version. */
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
    for (const known of [this.#encodings, this.#pictures, this.#failures]) {
      if (rel === null) known.clear();
      else known.delete(rel);
    }
    for (const [key] of [...this.#remembered.entries()]) {
      if (rel === null || key.slice(key.indexOf(':') + 1) === rel) this.#drop(key);
    }
  }
}

/** The cause is in the file, so another try would fail too. */
function isFault(error: unknown): error is AppError {
  return (
    error instanceof AppError && (error.code === 'too-large' || error.code === 'unreadable-file')
  );
}

/** False for a file written just before its stamp was taken, which proves nothing. */
function isOf<T extends Version>(known: T | undefined, file: OpenedFile): known is T {
  return (
    known !== undefined && sameStamp(known.stamp, file.stamp) && !isRacy(known.stamp, known.takenAt)
  );
}
