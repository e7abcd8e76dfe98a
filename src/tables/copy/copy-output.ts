/**
 * Writes a new file and syncs while it grows, because one sync of a hundred megabytes at the end would take half as
 * long as making them.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';

/** Bytes between background syncs. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024;

export class CopyOutput {
  readonly #fd: number;
  #unsynced = 0;
  /** The background sync; null when none runs. */
  #syncing: Promise<void> | null = null;
  #failure: Error | null = null;

  constructor(path: string) {
    this.#fd = openSync(path, 'r+');
  }

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      // Some file systems write less than they are given without an error.
      const written = writeSync(this.#fd, bytes, done, bytes.length - done, position + done);
      if (written === 0) {
        throw Object.assign(new Error('ENOSPC: write took no bytes'), { code: 'ENOSPC' });
      }
      done += written;
    }
    this.#unsynced += bytes.length;
    if (this.#unsynced >= SYNC_EVERY_BYTES && this.#syncing === null) this.#startSync();
  }

  /** Waits for the background sync. */
  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#fd);
  }

  /** Closes the file; throws a background sync's error, which the system reports only once. */
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
