/**
 * An answer produced faster than its reader takes it: a little in memory and, when that holds up others, the rest in
 * a file, so that the worker is free.
 *
 * The file has no name, so nothing of it outlives the process.
 */
import * as fs from 'node:fs';
import { closeSync, ftruncateSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { openNameless } from '../base/files/temporary-files.ts';
import type { Log } from '../base/log.ts';

/** Per answer; an ordinary page then frees its child at once. */
const MEMORY_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

const read = promisify(fs.read);
const write = promisify(fs.write);

interface SpoolRoomOptions {
  readonly directory: string;
  readonly maxBytes: () => number;
  /** What has to stay free on the disk. */
  readonly minFreeBytes: () => number;
  readonly log: Log;
}

/** Disk space shared by all spools of a server; one user may have half of it. */
export class SpoolRoom {
  readonly #options: SpoolRoomOptions;
  readonly #heldBy = new Map<string | null, number>();
  #held = 0;
  /** Gives up something that is only kept for later; false when there is nothing of it. */
  giveUp: () => boolean = () => false;

  constructor(options: SpoolRoomOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  /** Takes the bytes until `give`; false when there is no room. */
  take(person: string | null, bytes: number): boolean {
    while (!this.#hasRoom(person, bytes)) if (!this.giveUp()) return false;
    this.#add(person, bytes);
    return true;
  }

  #hasRoom(person: string | null, bytes: number): boolean {
    const { directory, maxBytes, minFreeBytes } = this.#options;
    const own = (this.#heldBy.get(person) ?? 0) + bytes;
    if (own > maxBytes() / 2 || this.#held + bytes > maxBytes()) return false;
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= minFreeBytes() + bytes;
  }

  give(person: string | null, bytes: number): void {
    this.#add(person, -bytes);
  }

  #add(person: string | null, bytes: number): void {
    this.#held += bytes;
    const own = (this.#heldBy.get(person) ?? 0) + bytes;
    if (own === 0) this.#heldBy.delete(person);
    else this.#heldBy.set(person, own);
  }

  /** A new empty file for this process alone. */
  open(): number {
    return openNameless(this.#options.directory);
  }

  /** Logs why an answer waits for its reader instead of going to disk. */
  failed(error: unknown): void {
    this.#options.log.warning('An answer could not be kept on disk for its slow reader', { error });
  }
}

/** The part of an answer not yet read. One producer adds; {@link body} is read once. */
export class Spool {
  readonly body: ReadableStream<Uint8Array>;
  readonly #room: SpoolRoom | null;
  readonly #person: string | null;
  /** The older part. */
  readonly #pieces: Uint8Array[] = [];
  #inMemory = 0;
  #file: number | null = null;
  #readTo = 0;
  #writtenTo = 0;
  /** System calls using the file: until they return it must not be closed or truncated. */
  #pending = 0;
  #mayUseDisk = false;
  #isFull = false;
  #taken = 0;
  #state: 'made' | 'complete' | 'given up' = 'made';
  #error: unknown = null;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  /** `room` null: memory only. `onGiveUp`: the reader is gone. */
  constructor(room: SpoolRoom | null, person: string | null, onGiveUp: (reason: unknown) => void) {
    this.#room = room;
    this.#person = person;
    const giveUp = (reason: unknown): void => {
      this.fail(reason);
      onGiveUp(reason);
    };
    this.body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            await this.#pull(controller);
          } catch (error) {
            giveUp(error);
            throw error;
          }
        },
        cancel: giveUp,
      },
      { highWaterMark: 0 },
    );
  }

  get taken(): number {
    return this.#taken;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** From now on what does not fit into memory goes to disk. */
  useDisk(): void {
    if (this.#room === null || this.#mayUseDisk) return;
    this.#mayUseDisk = true;
    this.#wakeWriter();
  }

  /** Resolves when the piece is stored; false when the reader is gone. */
  async add(piece: Uint8Array): Promise<boolean> {
    let wasRefused = false;
    while (this.#state === 'made') {
      if (!this.#isOnDisk && this.#inMemory < MEMORY_BYTES) {
        this.#pieces.push(piece);
        this.#inMemory += piece.length;
        this.#wakeReader();
        return true;
      }
      if (this.#mayUseDisk && !wasRefused) {
        if (await this.#write(piece)) return true;
        // The reader may have made room meanwhile.
        wasRefused = true;
        continue;
      }
      this.#isFull = true;
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
      this.#isFull = false;
      wasRefused = false;
    }
    return false;
  }

  complete(): void {
    if (this.#state === 'made') this.#state = 'complete';
    this.#wakeReader();
  }

  /** The reader gets the error instead of the rest. */
  fail(error: unknown): void {
    if (this.#isGivenUp) return;
    this.#state = 'given up';
    this.#error = error;
    this.#pieces.length = 0;
    this.#close();
    this.#wakeReader();
    this.#wakeWriter();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      if (this.#isGivenUp) throw this.#error;
      const piece = this.#pieces.length === 0 ? await this.#read() : this.#shift();
      if (piece !== null && !this.#isGivenUp) {
        this.#taken += piece.length;
        this.#wakeWriter();
        return controller.enqueue(piece);
      }
      // Something may have arrived during the disk read.
      if (this.#isGivenUp || this.#pieces.length > 0 || this.#isOnDisk) continue;
      if (this.#state === 'complete') {
        this.#close();
        return controller.close();
      }
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  get #isGivenUp(): boolean {
    return this.#state === 'given up';
  }

  get #isOnDisk(): boolean {
    return this.#readTo < this.#writtenTo;
  }

  #shift(): Uint8Array {
    const piece = this.#pieces.shift()!;
    this.#inMemory -= piece.length;
    return piece;
  }

  async #read(): Promise<Uint8Array | null> {
    if (!this.#isOnDisk) return null;
    const piece = new Uint8Array(Math.min(PIECE_BYTES, this.#writtenTo - this.#readTo));
    const bytes = await this.#working(async (file) => {
      return (await read(file, piece, 0, piece.length, this.#readTo)).bytesRead;
    });
    if (this.#isGivenUp) return null;
    if (bytes === 0) throw new Error('what was kept on disk for a slow reader is gone');
    this.#readTo += bytes;
    if (!this.#isOnDisk && this.#pending === 0) {
      ftruncateSync(this.#file!, 0);
      this.#forgetDisk();
    }
    return piece.subarray(0, bytes);
  }

  async #write(piece: Uint8Array): Promise<boolean> {
    const room = this.#room!;
    let hasRoom = false;
    try {
      hasRoom = room.take(this.#person, piece.length);
      if (!hasRoom) return false;
      this.#file ??= room.open();
      await this.#working(async (file) => {
        for (let at = 0; at < piece.length;)
          at += (await write(file, piece, at, piece.length - at, this.#writtenTo + at))
            .bytesWritten;
        this.#writtenTo += piece.length;
      });
    } catch (error) {
      if (hasRoom) room.give(this.#person, piece.length);
      room.failed(error);
      this.#mayUseDisk = false;
      return false;
    }
    this.#wakeReader();
    return true;
  }

  /** Keeps the file open and unchanged while a system call uses it. */
  async #working<Result>(work: (file: number) => Promise<Result>): Promise<Result> {
    this.#pending += 1;
    try {
      return await work(this.#file!);
    } finally {
      this.#pending -= 1;
      if (this.#isGivenUp) this.#close();
    }
  }

  #close(): void {
    if (this.#file === null || this.#pending > 0) return;
    closeSync(this.#file);
    this.#file = null;
    this.#forgetDisk();
  }

  #forgetDisk(): void {
    this.#room?.give(this.#person, this.#writtenTo);
    this.#readTo = this.#writtenTo = 0;
  }
}
