/**
 * Bytes on their way into a file that is being made, and from there to the disk.
 *
 * The disk is kept busy meanwhile: a sync of a hundred megabytes at the end would take as long as half of making them.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';

/** Bytes written before the next sync begins in the background. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024;

/** An existing file, open for writing. */
export class CopyOutput {
  readonly #fd: number;
  #unsynced = 0;
  /** Resolves when the sync in the background has ended; null when none is going on. */
  #syncing: Promise<void> | null = null;
  #failure: Error | null = null;

  constructor(path: string) {
    this.#fd = openSync(path, 'r+');
  }

  /** Writes all of the bytes at a position. Throws the failure of the file system. */
  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      // Some file systems take less than they are given and say nothing (reliability M7).
      const written = writeSync(this.#fd, bytes, done, bytes.length - done, position + done);
      if (written === 0) {
        throw Object.assign(new Error('ENOSPC: write took no bytes'), { code: 'ENOSPC' });
      }
      done += written;
    }
    this.#unsynced += bytes.length;
    if (this.#unsynced >= SYNC_EVERY_BYTES && this.#syncing === null) this.#startSync();
  }

  /** Lets go of the file, once the sync in the background has ended. */
  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#fd);
  }

  /** Closes the file; throws what a sync in the background has said, which the system tells only once. */
  async end(): Promise<void> {
    await this.close();
    if (this.#failure !== null) throw this.#failure;
  }

  #startSync(): void {
    this.#unsynced = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#syncing = promise;
    fdatasync(this.#fd, (error) => {
      this.#failure ??= error;
      this.#syncing = null;
      resolve();
    });
  }
}
