/**
 * How often a name in a folder was given to another file, counted by the kernel: what a watcher of the runtime tells is
 * merged by when it is read, so under load its number is another one. Linux only.
 */
import { dlopen } from 'bun:ffi';
import { closeSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { expect } from 'bun:test';
import { errnoOf } from '../../src/base/errors.ts';

const IN_MOVED_TO = 0x80;
const IN_Q_OVERFLOW = 0x4000;
const IN_NONBLOCK = 0o4000;
/** Of an event, before its name: watch, mask, cookie, length of the name. */
const HEAD_BYTES = 16;

const { symbols } = dlopen('libc.so.6', {
  inotify_init1: { args: ['i32'], returns: 'i32' },
  inotify_add_watch: { args: ['i32', 'cstring', 'u32'], returns: 'i32' },
});

/** Counts from its construction until it is disposed. */
export class ReplacementCount implements Disposable {
  readonly #queue: number;

  constructor(folder: string) {
    expect(endianness()).toBe('LE');
    this.#queue = symbols.inotify_init1(IN_NONBLOCK);
    const watch = symbols.inotify_add_watch(this.#queue, Buffer.from(`${folder}\0`), IN_MOVED_TO);
    expect(Math.min(this.#queue, watch)).toBeGreaterThanOrEqual(0);
  }

  /** The replacements of `name` since the last call; those of other names are forgotten. */
  take(name: string): number {
    let count = 0;
    for (const events of this.#batches()) {
      for (let at = 0; at < events.length;) {
        const length = events.readUInt32LE(at + 12);
        expect(events.readUInt32LE(at + 4) & IN_Q_OVERFLOW).toBe(0);
        const moved = events.toString('utf8', at + HEAD_BYTES, at + HEAD_BYTES + length);
        if (moved.replace(/\0+$/, '') === name) count++;
        at += HEAD_BYTES + length;
      }
    }
    return count;
  }

  [Symbol.dispose](): void {
    closeSync(this.#queue);
  }

  /** The events so far: they are there when the call that caused them returns. */
  *#batches(): Generator<Buffer> {
    const buffer = Buffer.alloc(64 * 1024);
    for (;;) {
      let length: number;
      try {
        length = readSync(this.#queue, buffer);
      } catch (error) {
        if (errnoOf(error) === 'EAGAIN') return;
        throw error;
      }
      yield buffer.subarray(0, length);
    }
  }
}
