/**
 * The bytes of an upload on their way: counted, hashed and looked at as they pass (DS-154), and kept aside until their name is
 * known.
 */
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';
import { writePieces } from '../base/piece-writer.ts';
import { SNIFFED_BYTES, sniffType } from './upload-type.ts';

/** A part of a body; it can be read once. */
export type Chunks = AsyncIterable<Uint8Array>;

const READ_BYTES = 1024 * 1024;

/** What is known of content once it has passed. */
export class UploadContent {
  readonly #maxBytes: number;
  readonly #hash = new Bun.CryptoHasher('sha256');
  #head: Buffer = Buffer.alloc(0);
  #hasNul = false;
  #checksum: string | null = null;
  /** Bytes so far. */
  size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The chunks as they are. Throws `too-large`. */
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

  /** SHA-256 in lower-case hex; asked for when all has passed. */
  get checksum(): string {
    return (this.#checksum ??= this.#hash.digest('hex'));
  }

  /** See `sniffType`. */
  sniffed(name: string): string {
    return sniffType(name, { head: this.#head, hasNul: this.#hasNul });
  }
}

/** Content in a file that has no name any more, so that nothing is left of it whatever happens. */
export class StagedContent implements AsyncDisposable {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** In a new file in `folder`. */
  static async open(folder: string): Promise<StagedContent> {
    const path = join(folder, `upload-${shortId()}`);
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new StagedContent(handle);
  }

  /** Takes all there is. Throws the system's error. */
  async fill(chunks: Chunks): Promise<void> {
    const files = {
      source: null,
      sourceSize: 0,
      target: this.#handle,
      onSourceCut: () => new Error('there is no source'),
    };
    this.#size = (await writePieces(chunks, files)).size;
  }

  /** What was taken. */
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

/** The refusal of what is longer than an upload may be. */
export function uploadTooLarge(): AppError {
  return new AppError('too-large', 'Upload exceeds the configured size limit');
}
