/** Collects the entries of one request: valid events and rejections. */
import { JsonNumber } from '../../../base/json/json.ts';
import type { Drafts } from '../drafts.ts';
import { isInRange, timeText } from '../../event-time.ts';
import type {
  Entry,
  IntakeLimits,
  IntakeRefusal,
  IntakeTools,
  MetaDefaults,
  Reading,
} from '../intake.ts';
import { EntryProblem, Rejection } from '../intake.ts';

const MAX_KEPT = 100;
const MAX_SAMPLE = 2048;
/** Characters of all events of a request, in addition to what its size allows. */
const BASE_LENGTH = 32 * 1024 * 1024;
const LENGTH_PER_BODY_BYTE = 8;
const NEWLINE = 0x0a;

export class Entries {
  readonly drafts: Drafts;
  readonly rejections: Rejection[] = [];
  rejected = 0;
  readonly #tools: IntakeTools;
  readonly #tooMany: (message: string) => IntakeRefusal;
  /** Each event repeats shared values: a label of a megabyte could become a terabyte. */
  readonly #maxLength: number;
  #length = 0;
  #seen = 0;

  /** `tooMany` makes the dialect's 413. */
  constructor(tools: IntakeTools, bodyBytes: number, tooMany: (message: string) => IntakeRefusal) {
    this.#tools = tools;
    this.drafts = tools.drafts;
    this.#tooMany = tooMany;
    this.#maxLength = BASE_LENGTH + LENGTH_PER_BODY_BYTE * bodyBytes;
  }

  get seen(): number {
    return this.#seen;
  }

  /** Returns the position from 0. Throws when there are too many. */
  next(): number {
    const { limits } = this.#tools;
    if (this.#seen >= limits.maxEvents) throw this.#tooMany(tooManyEvents(limits));
    return this.#seen++;
  }

  /** Returns the problem, for `reject`, when the entry is invalid. */
  add(entry: Entry, defaults: MetaDefaults): EntryProblem | null {
    const draft = this.#tools.draft(entry, defaults);
    if (draft instanceof EntryProblem) return draft;
    this.#length += draft.data.length + draft.fields.length;
    if (this.#length > this.#maxLength)
      throw this.#tooMany(`The events come to more than ${this.#maxLength} characters`);
    this.drafts.push(draft);
    return null;
  }

  /** `sample` is called only for rejections that are kept. */
  reject(position: string, reason: string, sample: () => string, details: unknown = null): void {
    this.rejected += 1;
    if (this.rejections.length >= MAX_KEPT) return;
    // A copy: a part of a text keeps all of it in memory.
    const kept = Buffer.from(sample().slice(0, MAX_SAMPLE)).toString();
    this.rejections.push(new Rejection(position, reason, kept, details));
  }

  reading(answer: Reading['answer']): Reading {
    const { drafts, rejections, rejected } = this;
    return { drafts, rejections, rejected, answer };
  }
}

export function tooManyEvents({ maxEvents }: IntakeLimits): string {
  return `Too many events in one request (maximum ${maxEvents})`;
}

/** Invalid UTF-8 becomes U+FFFD. */
export function lenientText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The lines of a body, without their line feeds. */
export class Lines {
  readonly #body: Uint8Array;
  #at = 0;
  /** Of the last line; from 1. */
  number = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  /** Null at the end. A body may hold millions of blank lines: they are passed over in one go unless `takesBlank`. */
  next(takesBlank = false): Uint8Array | null {
    const body = this.#body;
    if (!takesBlank) this.#skipBlank();
    const from = this.#at;
    if (from >= body.length) return null;
    const newline = body.indexOf(NEWLINE, from);
    const end = newline < 0 ? body.length : newline;
    this.#at = end + 1;
    this.number += 1;
    return body.subarray(from, end);
  }

  #skipBlank(): void {
    const body = this.#body;
    let at = this.#at;
    for (; at < body.length && isBlank(body[at]!); at += 1) {
      if (body[at] !== NEWLINE) continue;
      this.#at = at + 1;
      this.number += 1;
    }
    if (at === body.length) this.#at = at;
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

export function isBlankLine(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

/** RFC 3339; null outside years 0 to 9999. */
export function microsText(micros: number): string | null {
  return isInRange(micros) ? timeText(micros) : null;
}

/** RFC 3339, cut to microseconds; null for 0 and out of range. */
export function nanosText(nanos: bigint): string | null {
  return nanos === 0n ? null : microsText(Number(nanos / 1000n));
}

/** Null unless a JSON number. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof JsonNumber ? value.value : null;
}
