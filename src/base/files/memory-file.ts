/** A JSON file that outlives a restart and may be lost or damaged at any time. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Log } from '../log.ts';

export class MemoryFile<T> {
  readonly #path: string;
  readonly #log: Log;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /** Null without a file, and for one that `read` cannot make sense of. */
  load<R>(read: (value: T) => R): R | null {
    try {
      return read(JSON.parse(readFileSync(this.#path, 'utf8')) as T);
    } catch {
      return null;
    }
  }

  save(value: T): void {
    try {
      writeFileSync(`${this.#path}.part`, JSON.stringify(value), { mode: 0o600 });
      renameSync(`${this.#path}.part`, this.#path);
    } catch (error) {
      this.#log.warning('a file of the state folder was not written', { file: this.#path, error });
    }
  }
}
