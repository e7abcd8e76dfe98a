/** The bytes of an upload: counted, hashed and sampled as they pass, and kept aside until their name is known. */
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { writePieces } from '../../base/files/piece-writer.ts';
import { SNIFFED_BYTES, sniffType } from './upload-type.ts';

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

/** Content in a file that is already unlinked, so that nothing is left of it whatever happens. */
export class StagedContent implements AsyncDisposable {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<StagedContent> {
    const path = join(folder, `upload-${shortId()}`);
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new StagedContent(handle);
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
