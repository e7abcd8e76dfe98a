/**
 * JSON of event clients: parsed fast where nothing can be lost, exactly where numbers need their digits; errors give
 * the position in the API's words.
 */
import { JsonNumber, parseJson } from '../../base/json/json.ts';
import { collectGarbage } from '../../base/scheduling/garbage-collection.ts';
import { jsonErrorOffset } from '../../base/json/json-error.ts';
import { JsonOutliner, JsonSyntaxError, requireJsonBounds } from '../../base/json/json-outline.ts';

/** A place in a text; lines and columns count from 1, the offset from 0. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** `message` is the `detail` of the API's error. */
export class JsonParseError extends Error {
  constructor(
    readonly reason: string,
    readonly text: string,
    readonly offset: number,
    place: TextPlace = placeIn(text, offset),
  ) {
    const { line, column } = place;
    super(`JSON parse error - ${reason}: line ${line} column ${column} (char ${place.offset})`);
    this.name = 'JsonParseError';
  }
}

function placeIn(text: string, offset: number): TextPlace {
  let [line, lineFrom] = [1, 0];
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', lineFrom)) {
    line += 1;
    lineFrom = at + 1;
  }
  return { line, column: offset - lineFrom + 1, offset };
}

/** Where the text goes on whose beginning these bytes are; it is too long to be decoded. */
export function placeAfter(bytes: Uint8Array): TextPlace {
  let [line, lineFrom, offset] = [1, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    // UTF-16 units: none for the later bytes of a character, two for one of four bytes.
    if ((byte & 0xc0) !== 0x80) offset += byte < 0xf0 ? 1 : 2;
    if (byte !== 0x0a) continue;
    line += 1;
    lineFrom = offset;
  }
  return { line, column: offset - lineFrom + 1, offset };
}

/** More nesting or values than an event may have, whether valid JSON or not. */
export class JsonBoundsError extends JsonParseError {}

/** Scalars and containers of an event: 9 MB of memory, and about 50 ms until stored. */
export const MAX_EVENT_VALUES = 100_000;
/** Per byte allowed in data and fields: escapes take six bytes for one. */
const RAW_BYTES_PER_EVENT_BYTE = 12;
/** The garbage of smaller ones is collected in time. */
const LARGE_BYTES = 1024;

/** Numbers whose spelling JSON.parse loses. Matches inside strings do not matter. */
const AWKWARD_NUMBER = /[0-9](?:\.0+(?![0-9])|[eE][+-]?[0-9]|[0-9]{15})/;
const LONE_SURROGATE =
  /(?<!\\)(?:\\\\)*(\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2}))/;

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws `JsonParseError` for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    throw new JsonParseError('Invalid UTF-8', lenient, lenient.indexOf('\ufffd'));
  }
}

/** Throws `JsonBoundsError` when too large for an event, and as `parseEventJson`. */
export function parseEntry(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => string,
  { maxDepth, maxEventBytes }: { readonly maxDepth: number; readonly maxEventBytes: number },
): unknown {
  const maxBytes = maxEventBytes * RAW_BYTES_PER_EVENT_BYTE;
  if (bytes.length > maxBytes) throw new JsonBoundsError(`More than ${maxBytes} bytes`, '', 0);
  // Its text, and that of its values.
  if (bytes.length > LARGE_BYTES) collectGarbage(2 * bytes.length);
  return parseEventJson(decode(bytes), maxDepth);
}

/**
 * Numbers as in `parseJson`. Throws `JsonParseError`, also for nesting beyond `maxDepth`, and `JsonBoundsError` for
 * more than `maxValues` and numbers of unreasonable length. `Infinity` for both: for text stored earlier.
 */
export function parseEventJson(
  text: string,
  maxDepth: number,
  maxValues = MAX_EVENT_VALUES,
): unknown {
  // Shorter texts cannot hold so many values.
  if (text.length > 2 * maxValues) requireBounds(text, maxDepth, maxValues);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { reason, offset } = faultOf(text);
    throw new JsonParseError(reason, text, offset);
  }
  if (isDeeper(value, maxDepth)) {
    throw new JsonParseError(`Nesting deeper than ${maxDepth}`, text, depthOffset(text, maxDepth));
  }
  // Most events have no numbers outside strings.
  if (hasNumber(value) && hasAwkwardNumbers(text)) {
    if (maxValues !== Number.POSITIVE_INFINITY) requireBounds(text, maxDepth, maxValues);
    value = parseJson(text);
  }
  if (text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)) {
    const lone = LONE_SURROGATE.exec(text);
    if (lone !== null) {
      const offset = lone.index + lone[0].length - lone[1]!.length;
      throw new JsonParseError('Lone surrogate', text, offset);
    }
  }
  return value;
}

function requireBounds(text: string, depth: number, values: number): void {
  try {
    requireJsonBounds(text, { values, depth });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const Kind = error.message.startsWith('Un') ? JsonParseError : JsonBoundsError;
    throw new Kind(error.message, text, error.offset);
  }
}

/** Compact; numbers keep their digits. */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.source;
  if (isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const members = Object.keys(value).map(
    (name) => `${JSON.stringify(name)}:${exactJson((value as Record<string, unknown>)[name])}`,
  );
  return `{${members.join(',')}}`;
}

/** Whether JSON.stringify keeps every number's digits. */
export function isPlain(value: object): boolean {
  if (value instanceof JsonNumber) return false;
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'bigint') return false;
    if (typeof member === 'object' && member !== null && !isPlain(member)) return false;
  }
  return true;
}

/** Whether only `exactJson` can write the numbers. */
export function hasAwkwardNumbers(text: string): boolean {
  return AWKWARD_NUMBER.test(text) && AWKWARD_NUMBER.test(withoutStrings(text));
}

/** Replaces each string by a space. A pattern matching whole strings would take seconds for a long one. */
function withoutStrings(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', from)) {
    kept.push(text.slice(from, at));
    from = stringEnd(text, at);
    if (from === 0) return kept.join(' ');
  }
  kept.push(text.slice(from));
  return kept.join(' ');
}

/** Offset after the closing quote of the string at `start`; 0 when missing. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return 0;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Recurses as deep as the value. */
function hasNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  if (Array.isArray(value)) return value.some(hasNumber);
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'number') return true;
    if (typeof member === 'object' && member !== null && hasNumber(member)) return true;
  }
  return false;
}

export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object' && isDeeper(item, depth - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && isDeeper(member, depth - 1)) return true;
  }
  return false;
}

function faultOf(text: string): { reason: string; offset: number } {
  if (text.trim() === '') return { reason: 'Expecting value', offset: 0 };
  try {
    // Bounds the depth for the recursive search below.
    new JsonOutliner(text).advance(text.length + 1);
    return { reason: 'Expecting value', offset: jsonErrorOffset(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { reason: error.message, offset: error.offset };
    throw error;
  }
}

function depthOffset(text: string, maxDepth: number): number {
  let depth = 0;
  let isInside = false;
  for (const { 0: part, index } of text.matchAll(/\\.|["[\]{}]/gs)) {
    if (part === '"') isInside = !isInside;
    else if (isInside || part.length > 1) continue;
    else depth += part === '[' || part === '{' ? 1 : -1;
    if (depth > maxDepth) return index;
  }
  return 0;
}
