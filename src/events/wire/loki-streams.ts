/**
 * The streams of a Loki push request in JSON or protobuf, in one shape (EV-75).
 */
import { exactJson, isObject } from '../json-text.ts';
import { numberOf } from './entries.ts';
import { ProtobufReader } from './protobuf.ts';

/** Labels or metadata by name. */
export type Labels = Record<string, string>;

/** One line of a stream. */
export interface LokiEntry {
  readonly nanos: bigint;
  readonly line: string;
  readonly metadata: Labels;
}

/** A stream or entry that cannot be used. */
export class LokiEntryError extends Error {}

/** Told of every entry in order, with the numbers of stream and entry from 0. `read` throws `LokiEntryError` for a bad one. */
export type LokiVisitor = (
  labels: () => Labels,
  position: { readonly stream: number; readonly entry: number },
  read: () => LokiEntry,
) => void;

/** The entries of a parsed JSON request; false when it is no such request. */
export function visitJsonStreams(request: unknown, visit: LokiVisitor): boolean {
  const streams = isObject(request) ? request['streams'] : null;
  if (!Array.isArray(streams)) return false;
  for (const [stream, value] of streams.entries()) {
    const labels = once(() => labelsOf(isObject(value) ? value['stream'] : null));
    const values: unknown = isObject(value) ? value['values'] : null;
    if (!Array.isArray(values)) {
      visit(labels, { stream, entry: 0 }, () => {
        throw new LokiEntryError('values is no list');
      });
      continue;
    }
    for (const [entry, item] of values.entries()) {
      visit(labels, { stream, entry }, () => jsonEntry(item));
    }
  }
  return true;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function jsonEntry(item: unknown): LokiEntry {
  if (!Array.isArray(item)) throw new LokiEntryError('the entry is no list');
  const [time, line, metadata] = item as readonly unknown[];
  const text = typeof time === 'string' ? time : numberOf(time) === null ? '' : exactJson(time);
  if (!/^\d{1,20}$/.test(text)) throw new LokiEntryError('the time is no number of nanoseconds');
  if (typeof line !== 'string') throw new LokiEntryError('the line is no text');
  return { nanos: BigInt(text), line, metadata: metadata === undefined ? {} : labelsOf(metadata) };
}

function labelsOf(value: unknown): Labels {
  if (!isObject(value)) throw new LokiEntryError('the labels are no object');
  const labels = Object.create(null) as Labels;
  for (const [name, text] of Object.entries(value)) {
    labels[name] = typeof text === 'string' ? text : exactJson(text);
  }
  return labels;
}

/** The entries of a protobuf request (already without its snappy coding). Throws `ProtobufError` for damaged bytes. */
export function visitProtobufStreams(bytes: Uint8Array, visit: LokiVisitor): void {
  const request = new ProtobufReader(bytes);
  for (let stream = 0; request.next();) {
    if (request.field !== 1) continue;
    visitStream(request.message(), stream, visit);
    stream += 1;
  }
}

function visitStream(message: ProtobufReader, stream: number, visit: LokiVisitor): void {
  let text = '';
  const entries: Uint8Array[] = [];
  while (message.next()) {
    if (message.field === 1) text = message.text();
    else if (message.field === 2) entries.push(message.bytes());
  }
  const labels = once(() => parseLabels(text));
  for (const [entry, bytes] of entries.entries()) {
    visit(labels, { stream, entry }, () => protobufEntry(new ProtobufReader(bytes)));
  }
}

function protobufEntry(message: ProtobufReader): LokiEntry {
  let nanos = 0n;
  let line = '';
  const metadata = Object.create(null) as Labels;
  while (message.next()) {
    if (message.field === 1) nanos = timestampIn(message.message());
    else if (message.field === 2) line = message.text();
    else if (message.field === 3) addLabel(metadata, message.message());
  }
  return { nanos, line, metadata };
}

function timestampIn(message: ProtobufReader): bigint {
  let seconds = 0n;
  let nanos = 0n;
  while (message.next()) {
    if (message.field === 1) seconds = message.int64();
    else if (message.field === 2) nanos = message.int64();
  }
  return seconds * 1_000_000_000n + nanos;
}

function addLabel(labels: Labels, pair: ProtobufReader): void {
  let name = '';
  let value = '';
  while (pair.next()) {
    if (pair.field === 1) name = pair.text();
    else if (pair.field === 2) value = pair.text();
  }
  labels[name] = value;
}

// Escapes are counted: a choice for each character would cost seconds in a text of a megabyte.
const LABEL = /\s*([a-zA-Z_][\w.:-]*)\s*=\s*("[^"\\]*(?:\\.[^"\\]*){0,5000}"|`[^`]*`)\s*(,|$)/gsy;

/** The labels of `{name="value", ...}`. Throws `LokiEntryError`. */
export function parseLabels(text: string): Labels {
  const inner = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1];
  if (inner === undefined) throw new LokiEntryError('the labels cannot be read');
  const labels = Object.create(null) as Labels;
  let at = 0;
  while (inner.slice(at).trim() !== '') {
    LABEL.lastIndex = at;
    const match = LABEL.exec(inner);
    if (match === null) throw new LokiEntryError('the labels cannot be read');
    labels[match[1]!] = unquoted(match[2]!);
    at = LABEL.lastIndex;
  }
  return labels;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** As Go writes texts. */
function unquoted(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith('`') || !inner.includes('\\')) return inner;
  return inner.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([0-7]{3})|(.))/gis,
    (_, byte: string, short: string, long: string, octal: string, letter: string) => {
      const hex = byte ?? short ?? long;
      if (hex !== undefined) return codePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return codePoint(Number.parseInt(octal, 8));
      return ESCAPES[letter] ?? letter;
    },
  );
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
