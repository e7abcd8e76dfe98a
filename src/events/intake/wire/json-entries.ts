/**
 * Cuts the entries out of a large JSON body and parses each on its own, so that a parsed body does not take many
 * times its size in memory.
 */
import type { IntakeLimits } from '../intake.ts';
import {
  JsonBoundsError,
  JsonParseError,
  parseEntry,
  parseEventJson,
  placeAfter,
} from '../json-text.ts';
import { lenientText } from './entries.ts';

/** Smaller bodies are parsed whole, which takes at most 30 MB; cutting costs a microsecond more per event. */
export const MAX_WHOLE_BYTES = 1024 * 1024;
/** Values around the entries and shared by them: 42 MB of memory. */
const MAX_FRAME_VALUES = 500_000;
/** Of the same: three times as much of memory. */
const MAX_FRAME_BYTES = 32 * 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
const LIST_END = 0x5d;
/** Difference between the codes of brackets and braces. */
const BRACE = 0x20;

/** A native search costs as much as looking at this many bytes. */
const NEAR = 24;

interface EntryLists {
  /** Containers around an entry. */
  readonly depth: number;
  /** Members that hold the lists; null: any list of that depth. */
  readonly names: readonly string[] | null;
}

interface Reading {
  readonly limits: IntakeLimits;
  readonly maxDepth: number;
  readonly decode: (bytes: Uint8Array) => string;
  readonly tooMany: () => Error;
}

export interface JsonEntries {
  readonly frame: unknown;
  /**
   * Parses an item of a frame's list. Throws `JsonBoundsError` beyond the bounds of an event, other `JsonParseError`
   * for invalid JSON.
   */
  entry(item: unknown): unknown;
}

/** Throws `JsonParseError`, and the error of `tooMany`. */
export function readEntries(body: Uint8Array, lists: EntryLists, reading: Reading): JsonEntries {
  const { decode, maxDepth, limits } = reading;
  if (body.length <= MAX_WHOLE_BYTES)
    return {
      frame: parseEventJson(decode(body), maxDepth, MAX_WHOLE_BYTES),
      entry: (item) => item,
    };
  const { frame, places } = cut(body, lists, reading);
  const placed = <Value>(read: () => Value, at: (text: string, offset: number) => number) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      const before = body.subarray(0, at(error.text, error.offset));
      const Kind = error instanceof JsonBoundsError ? JsonBoundsError : JsonParseError;
      throw new Kind(error.reason, '', 0, placeAfter(before));
    }
  };
  const bytesBefore = (text: string, offset: number) => Buffer.byteLength(text.slice(0, offset));
  return {
    frame: placed(
      () => parseEventJson(decode(frame), maxDepth, MAX_FRAME_VALUES + places.length),
      (text, offset) => placeInBody(bytesBefore(text, offset), places),
    ),
    entry: (item) => {
      const place = places[item as number]!;
      return placed(
        () =>
          parseEntry(body.subarray(place.from, place.to), decode, {
            ...limits,
            maxDepth: maxDepth - lists.depth,
          }),
        (text, offset) => place.from + bytesBefore(text, offset),
      );
    },
  };
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** Maps a position in the frame to one in the body. */
function placeInBody(at: number, places: readonly Place[]): number {
  let shift = 0;
  for (const [index, { from, to }] of places.entries()) {
    if (from - shift >= at) break;
    shift += to - from - String(index).length;
  }
  return at + shift;
}

/** The body with a number in place of each entry, and the places of the entries. */
function cut(
  body: Uint8Array,
  lists: EntryLists,
  { limits, tooMany }: Reading,
): { frame: Uint8Array; places: Place[] } {
  const places: Place[] = [];
  let depth = 0;
  let isInList = false;
  let entryFrom = 0;
  let name: Place = { from: 0, to: 0 };
  const endEntry = (end: number): void => {
    let [from, to] = [entryFrom, end];
    while (from < to && isSpace(body[from]!)) from++;
    while (from < to && isSpace(body[to - 1]!)) to--;
    if (from === to) return;
    if (places.length === limits.maxEvents) throw tooMany();
    places.push({ from, to });
  };
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === QUOTE) {
      const end = stringEnd(body, at);
      if (!isInList) name = { from: at, to: end + 1 };
      at = end;
    } else if (byte === COMMA) {
      if (!isInList || depth !== lists.depth) continue;
      endEntry(at);
      entryFrom = at + 1;
    } else if ((byte & ~BRACE) === LIST) {
      depth++;
      if (isInList || byte !== LIST || depth !== lists.depth || !isNamed(body, name, lists))
        continue;
      isInList = true;
      entryFrom = at + 1;
    } else if ((byte & ~BRACE) === LIST_END) {
      if (isInList && depth === lists.depth) {
        endEntry(at);
        isInList = false;
      }
      depth--;
    }
  }
  // Unfinished JSON; parsing the frame reports it.
  if (isInList) endEntry(body.length);
  return { frame: frameOf(body, places), places };
}

/** Throws `JsonBoundsError` when it is too long. */
function frameOf(body: Uint8Array, places: readonly Place[]): Uint8Array {
  const cutOut = places.reduce((sum, { from, to }, at) => sum + to - from - String(at).length, 0);
  const length = body.length - cutOut;
  if (length > MAX_FRAME_BYTES)
    throw new JsonBoundsError(`More than ${MAX_FRAME_BYTES} bytes beside the entries`, '', 0);
  const frame = Buffer.allocUnsafe(length);
  const source = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let at = 0;
  let restFrom = 0;
  for (const [index, { from, to }] of places.entries()) {
    at += source.copy(frame, at, restFrom, from);
    at += frame.write(String(index), at, 'latin1');
    restFrom = to;
  }
  source.copy(frame, at, restFrom);
  return frame;
}

function isNamed(body: Uint8Array, { from, to }: Place, { names }: EntryLists): boolean {
  if (names === null) return true;
  // Names may contain escapes.
  const text = lenientText(body.subarray(from, Math.min(to, from + 256)));
  if (!text.includes('\\')) return names.includes(text.slice(1, -1));
  try {
    return names.includes(JSON.parse(text) as string);
  } catch {
    return false;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Position of the closing quote; the last byte when missing. */
function stringEnd(body: Uint8Array, quote: number): number {
  for (let at = quote + 1; at < body.length;) {
    for (const near = Math.min(at + NEAR, body.length); at < near; at++) {
      const byte = body[at]!;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    at = body.indexOf(QUOTE, at);
    if (at < 0) break;
    let before = at;
    while (body[before - 1] === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
    at++;
  }
  return body.length - 1;
}
