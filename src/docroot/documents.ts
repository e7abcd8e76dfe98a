/**
 * Published files that are not datasets: their bytes, and what is made of them.
 *
 * Results are cached with the stamp of their file version, checked on every read, and made in the parse worker under
 * a time limit.
 */
import { AppError } from '../base/errors.ts';
import { CLOCK_TICK_MS, type FileStamp, isRacy, sameStamp } from '../base/files/file-stamp.ts';
import { sha256Hex } from '../base/ids.ts';
import { Lru } from '../base/lru.ts';
import { TooMuchWork } from '../processes/child-job.ts';
import { isUtf8Text } from '../base/text/text-bytes.ts';
import type { CacheEntries, CacheKind } from './cache-entries.ts';
import type { ReadDashboard } from './dashboard.ts';
import type { DocumentRoot } from './document-root.ts';
import type { Family, MediaMetadata, PictureSize, ReadAlert, RenderedDocument } from './kind.ts';
import { openForRead, type OpenedFile } from './opener.ts';
import type { Resource } from './registry/registry.ts';

/** A larger Markdown file is a data file: 2 MiB take some seconds. */
export const MAX_RENDER_BYTES = 2 * 1024 * 1024;
/** Of all results, with what an entry itself takes; a page is about as large as its source. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const ENTRY_BYTES = 500;
const SAMPLE_BYTES = 64 * 1024;

export type DocumentJobName = 'render' | 'dashboard' | 'alert' | 'metadata' | 'picture';

/** As a strong `ETag`: size, times and inode change with every write (file-stamp.ts). */
export function versionOf({ inode, size, mtimeNs, ctimeNs }: FileStamp): string {
  return sha256Hex(`${inode}.${size}.${mtimeNs}.${ctimeNs}`).slice(0, 32);
}

interface DocumentsOptions {
  readonly root: DocumentRoot;
  readonly familyOf: (rel: string) => Family | 'dashboard' | null;
  readonly cache: CacheEntries;
  /** Answers JSON text. Throws what the job threw, and `timed-out`. */
  readonly run: (job: DocumentJobName, resource: Resource, maxBytes: number) => Promise<string>;
}

type Fact = DocumentJobName | 'encoding';

/** How administrators see a result among the cached things. */
const CACHE_KINDS: Readonly<Partial<Record<Fact, CacheKind>>> = {
  render: 'markdown',
  metadata: 'media_meta',
};

/** What is known of one version of a file. */
interface Kept {
  readonly stamp: FileStamp;
  /** Epoch ms. */
  readonly takenAt: number;
  /** JSON text, or why there is none: the cause is in the file, so another try would fail too. */
  readonly result: string | AppError;
}

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #making = new Map<string, Promise<string>>();
  /** By fact and rel. */
  readonly #kept = new Lru<string, Kept>(MAX_KEPT_BYTES / ENTRY_BYTES);
  #bytes = 0;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    options.cache.onForget((rel) => this.#forget(rel));
  }

  /** Existing or not; null for unpublished extensions and for handlers, which have no page. Dashboards have two addresses. */
  familyOf(rel: string): Family | 'dashboard' | null {
    return this.#options.familyOf(rel);
  }

  /** The caller closes it. Throws as `openForRead`. */
  async open({ rel }: Resource): Promise<OpenedFile> {
    return openForRead(this.#options.root, rel);
  }

  /** Judges the first 64 KiB; cached for the version that was opened. */
  async isUtf8({ rel, type }: Resource, file: OpenedFile): Promise<boolean> {
    const takenAt = Date.now();
    const key = keyOf('encoding', rel);
    let result = this.#knownOf(key, file);
    if (result === undefined) {
      const sample = await file.read(0, Math.min(file.size, SAMPLE_BYTES));
      result = String(isUtf8Text(sample, sample.length < file.size));
      this.#keep(key, { stamp: file.stamp, takenAt, result });
    }
    if (type === 'html') this.#options.cache.note('html', rel);
    return result === 'true';
  }

  /**
   * Throws `not-found`, `unreadable-file`, and `too-large` when rendering takes too long or too much; a failed
   * version is not tried again.
   */
  async rendered(resource: Resource): Promise<RenderedDocument> {
    const json = await this.#read('render', resource, MAX_RENDER_BYTES);
    return JSON.parse(json) as RenderedDocument;
  }

  /** Throws `not-found`, `unreadable-file` with the line of what is wrong, and `too-large` as `rendered`. */
  async dashboard(resource: Resource): Promise<ReadDashboard> {
    return JSON.parse(await this.#read('dashboard', resource, 0)) as ReadDashboard;
  }

  /** Throws as `dashboard`. */
  async alert(resource: Resource): Promise<ReadAlert> {
    return JSON.parse(await this.#read('alert', resource, 0)) as ReadAlert;
  }

  /** Throws `unreadable-file` when the content is not of the kind, and `not-found`. */
  async metadata(resource: Resource): Promise<MediaMetadata> {
    const json = await this.#read('metadata', resource, 0);
    return JSON.parse(json) as MediaMetadata;
  }

  /** Null when it is no picture or cannot be read. Throws `not-found`. */
  async pictureSize(resource: Resource): Promise<PictureSize | null> {
    if (resource.kind.pictureSize === undefined) return null;
    return JSON.parse(await this.#read('picture', resource, 0)) as PictureSize | null;
  }

  async #read(job: DocumentJobName, resource: Resource, maxBytes: number): Promise<string> {
    const { rel } = resource;
    const key = keyOf(job, rel);
    const takenAt = Date.now();
    const file = await this.open(resource);
    await file.close();
    const { stamp } = file;
    const known = this.#knownOf(key, file);
    if (known instanceof AppError) throw known;
    if (known !== undefined) return this.#noted(job, rel, known);
    const { inode, size, mtimeNs, ctimeNs } = stamp;
    const version = `${key}\0${inode}.${size}.${mtimeNs}.${ctimeNs}`;
    // Requests for the same version share one answer.
    const made = this.#making.get(version) ?? this.#make(job, resource, maxBytes);
    if (!isRacy(stamp, takenAt, CLOCK_TICK_MS)) this.#making.set(version, made);
    try {
      const result = await made;
      const now = await this.open(resource);
      await now.close();
      // The worker may have seen either version.
      if (sameStamp(now.stamp, stamp)) this.#keep(key, { stamp, takenAt, result });
      return this.#noted(job, rel, result);
    } catch (error) {
      if (isFault(error)) this.#keep(key, { stamp, takenAt, result: error });
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
      if (job === 'picture') return 'null';
      const text = `'${resource.rel}' takes too long to be shown as a page; download it, or see its text with ?source=1`;
      throw new AppError('too-large', text, { cause: error });
    }
  }

  #noted(fact: Fact, rel: string, json: string): string {
    const kind = CACHE_KINDS[fact];
    if (kind !== undefined) this.#options.cache.note(kind, rel);
    return json;
  }

  /** Nothing for a file written just before its stamp was taken. */
  #knownOf(key: string, { stamp }: OpenedFile): string | AppError | undefined {
    const kept = this.#kept.get(key);
    const isSame =
      kept !== undefined && sameStamp(kept.stamp, stamp) && !isRacy(kept.stamp, kept.takenAt);
    return isSame ? kept.result : undefined;
  }

  #keep(key: string, kept: Kept): void {
    const bytes = bytesOf(kept);
    if (bytes > MAX_KEPT_BYTES / 4) return;
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#bytes += bytes;
    for (const [oldest] of this.#kept.entries()) {
      if (this.#bytes <= MAX_KEPT_BYTES) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= bytesOf(kept);
  }

  #forget(rel: string | null): void {
    for (const [key] of [...this.#kept.entries()]) {
      if (rel === null || key.slice(key.indexOf(':') + 1) === rel) this.#drop(key);
    }
  }
}

function keyOf(fact: Fact, rel: string): string {
  return `${fact}:${rel}`;
}

function bytesOf({ result }: Kept): number {
  return ENTRY_BYTES + (typeof result === 'string' ? result.length : 0);
}

function isFault(error: unknown): error is AppError {
  return (
    error instanceof AppError && (error.code === 'too-large' || error.code === 'unreadable-file')
  );
}
