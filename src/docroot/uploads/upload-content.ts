/** Counted, hashed and sampled as they pass, and kept aside until their name is known. */
import type { FileHandle } from 'node:fs/promises';
import { AppError } from '../../base/errors.ts';
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { writePieces } from '../../base/files/piece-writer.ts';
import { createNameless } from '../../base/files/temporary-files.ts';
import { extensionOf } from '../../base/paths.ts';

/** Can be read once. */
export type Chunks = AsyncIterable<Uint8Array>;

const READ_BYTES = 1024 * 1024;

export class UploadContent {
  readonly #maxBytes: number;
  readonly #hash = new Bun.CryptoHasher('sha256');
  #head: Buffer = Buffer.alloc(0);
  #hasNul = false;
  #checksum: string | null = null;
  size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Passes the chunks on unchanged. Throws `too-large`. */
  async *pass(chunks: Chunks): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.size += chunk.byteLength;
      if (this.size > this.#maxBytes) throw uploadTooLarge();
      this.#hash.update(chunk);
      if (this.#head.length < SNIFFED_BYTES) {
        const missing = SNIFFED_BYTES - this.#head.length;
        this.#head = Buffer.concat([this.#head, chunk.subarray(0, missing)]);
      }
      this.#hasNul ||= chunk.includes(0);
      yield chunk;
    }
  }

  /** SHA-256 in lower-case hex; call it when all has passed. */
  get checksum(): string {
    return (this.#checksum ??= this.#hash.digest('hex'));
  }

  sniffed(name: string): string {
    return sniffType(name, { head: this.#head, hasNul: this.#hasNul });
  }
}

/** In a file that is already unlinked, so that nothing is left of it. */
export class StagedContent implements AsyncDisposable {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<StagedContent> {
    return new StagedContent(await createNameless(folder));
  }

  /** Throws the system's error. */
  async fill(chunks: Chunks): Promise<void> {
    const files = {
      source: null,
      sourceSize: 0,
      target: this.#handle,
      onSourceCut: () => new Error('there is no source'),
    };
    this.#size = (await writePieces(chunks, files)).size;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#size;) {
      const { bytesRead, buffer } = await this.#handle.read(
        new Uint8Array(Math.min(READ_BYTES, this.#size - at)),
        { position: at },
      );
      if (bytesRead === 0) throw new Error('the staged content was cut');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

export function uploadTooLarge(): AppError {
  return new AppError('too-large', 'Upload exceeds the configured size limit');
}

/** Bytes at the beginning that `sniffType` looks at. */
const SNIFFED_BYTES = 4096;

const BINARY = 'application/octet-stream';
const HTML =
  /^<(?:!doctype html|!--|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s/>])/i;
/** What may precede the root element of an XML file. */
const PROLOGUE = /^(?:\s+|<\?.*?\?>|<!--.*?-->|<!doctype svg[^>[]*(?:\[.*?\])?\s*>)+/is;

/** Only these extensions have their type compared. */
const EXPECTED = new Set(
  (
    '.png .jpg .jpeg .gif .webp .pdf .zip .xlsx .xlsm .json .svg .xml .html .htm .csv .txt .md .xls .parquet ' +
    '.mp4 .avi .mkv .webm .mp3 .ogg .wav'
  ).split(' '),
);
/** Binary formats without a signature here: being binary must do. */
const UNSIGNED = /^(?:audio|video)\/|^application\/vnd\.(?:ms-excel|apache\.parquet)$/;

interface Seen {
  /** The first SNIFFED_BYTES, or all there are. */
  readonly head: Uint8Array;
  readonly hasNul: boolean;
}

/** Without parameters; `text/plain` when nothing else is recognised. */
function sniffType(name: string, { head, hasNul }: Seen): string {
  const text = Buffer.from(head).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (/^RIFF....WEBP/s.test(text)) return 'image/webp';
  if (text.startsWith('%PDF-')) return 'application/pdf';
  if (/^PK(?:\x03\x04|\x05\x06)/.test(text)) {
    return /^\.xls[mx]$/.test(extensionOf(name)) ? mediaTypeOf(name) : 'application/zip';
  }
  return hasNul ? BINARY : textType(text.replace(/^\xef\xbb\xbf/, '').trimStart());
}

function textType(text: string): string {
  if (/^[{[]/.test(text)) return 'application/json';
  if (/^<svg[\s/>]/i.test(text.replace(PROLOGUE, ''))) return 'image/svg+xml';
  if (/^<\?xml/i.test(text)) return 'application/xml';
  return HTML.test(text) ? 'text/html' : 'text/plain';
}

/**
 * Throws `bad-request` unless the sniffed type is on the list (an empty list allows all), fits the extension, and
 * fits the declared type.
 */
export function requireFittingType(
  name: string,
  { sniffed, declared }: { readonly sniffed: string; readonly declared: string },
  allowedTypes: readonly string[],
): void {
  if (allowedTypes.length > 0 && !allowedTypes.includes(sniffed)) {
    throw mismatch(sniffed, 'is not allowed');
  }
  const extension = extensionOf(name);
  if (EXPECTED.has(extension) && !fits(sniffed, mediaTypeOf(name))) {
    throw mismatch(sniffed, `does not match extension '${extension}'`);
  }
  const type = (declared.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (type !== '' && type !== BINARY && !fits(sniffed, type)) {
    throw mismatch(sniffed, `does not match declared type '${type}'`);
  }
}

function fits(sniffed: string, type: string): boolean {
  if (sniffed === type) return true;
  if (sniffed.startsWith('text/') && type.startsWith('text/')) return true;
  return sniffed === BINARY && UNSIGNED.test(type);
}

function mismatch(sniffed: string, reason: string): AppError {
  return new AppError('bad-request', `Detected MIME type '${sniffed}' ${reason}`);
}
