/**
 * What the dialects have in common: entries go in one by one, events and rejections come out (EV-62).
 */
import { JsonNumber } from '../../base/json.ts';
import type { EventDraft } from '../event.ts';
import { isInRange, timeText } from '../event-time.ts';
import type { Entry, IntakeRefusal, IntakeTools, MetaDefaults } from '../intake.ts';
import { EntryProblem, Rejection } from '../intake.ts';

const MAX_KEPT = 100;
const MAX_SAMPLE = 2048;

/** The entries of one request. */
export class Entries {
  readonly drafts: EventDraft[] = [];
  /** The first hundred. */
  readonly rejections: Rejection[] = [];
  rejected = 0;
  readonly #tools: IntakeTools;
  readonly #tooMany: (message: string) => IntakeRefusal;
  #seen = 0;

  /** `tooMany` makes the 413 of the dialect. */
  constructor(tools: IntakeTools, tooMany: (message: string) => IntakeRefusal) {
    this.#tools = tools;
    this.#tooMany = tooMany;
  }

  /** Entries so far, good and bad. */
  get seen(): number {
    return this.#seen;
  }

  /** Counts an entry, from 0. Throws the refusal for one too many. */
  next(): number {
    const { maxEvents } = this.#tools.limits;
    if (this.#seen >= maxEvents) {
      throw this.#tooMany(`Too many events in one request (maximum ${maxEvents})`);
    }
    return this.#seen++;
  }

  /** Takes the event in; or says why it is none, for `reject`. */
  add(entry: Entry, defaults: MetaDefaults): EntryProblem | null {
    const draft = this.#tools.draft(entry, defaults);
    if (draft instanceof EntryProblem) return draft;
    this.drafts.push(draft);
    return null;
  }

  /** Leaves an entry out; `sample` is asked only for those that are kept. */
  reject(position: string, reason: string, sample: () => string, details: unknown = null): void {
    this.rejected += 1;
    if (this.rejections.length >= MAX_KEPT) return;
    this.rejections.push(new Rejection(position, reason, sample().slice(0, MAX_SAMPLE), details));
  }
}

/** Bytes as text; what is no UTF-8 becomes U+FFFD. */
export function lenientText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Calls back for every line with its number from 1, without its line feed; also for blank ones. */
export function forEachLine(
  body: Uint8Array,
  visit: (line: Uint8Array, number: number) => void,
): void {
  let number = 1;
  for (let from = 0; from < body.length; number += 1) {
    const newline = body.indexOf(0x0a, from);
    const end = newline < 0 ? body.length : newline;
    visit(body.subarray(from, end), number);
    from = end + 1;
  }
}

/** Whether a line holds nothing but white space. */
export function isBlankLine(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

/** The time of so many microseconds as EV-2 text; null outside of the years 0 to 9999. */
export function microsText(micros: number): string | null {
  return isInRange(micros) ? timeText(micros) : null;
}

/**
 * Microseconds of a decimal number of a coarser unit, `digits` places above them; finer fractions are cut (EV-2), which
 * is seen in the digits as they were written: a multiplied double may have passed the next microsecond.
 */
export function cutMicros(amount: number | string, digits: 3 | 6): number {
  const text = /[eE]/.test(String(amount)) ? String(Number(amount)) : String(amount);
  const match = /^([+-]?)(\d*)\.?(\d*)$/.exec(text);
  if (match === null) return Math.floor(Number(text) * 10 ** digits);
  const [, sign, whole = '', fraction = ''] = match;
  const micros = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  if (sign !== '-') return micros;
  // Before 1970 the digits count backwards, so what is cut leads to the microsecond before.
  return /[1-9]/.test(fraction.slice(digits)) ? -micros - 1 : -micros;
}

/** The time of so many nanoseconds as EV-2 text, cut to microseconds; null for 0 and out of range. */
export function nanosText(nanos: bigint): string | null {
  return nanos === 0n ? null : microsText(Number(nanos / 1000n));
}

/** A JSON number as a double; null for any other value. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof JsonNumber ? value.value : null;
}
