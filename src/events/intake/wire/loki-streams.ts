/** The streams of a Loki push request, JSON or protobuf, in one shape. */
import type { IntakeLimits } from '../intake.ts';
import { fieldsProblem } from '../intake.ts';
import { exactJson, isObject, JsonBoundsError } from '../json-text.ts';
import { numberOf } from './entries.ts';
import type { JsonEntries } from './json-entries.ts';
import { ProtobufReader } from './protobuf.ts';

export type Labels = Record<string, string>;

export interface LokiEntry {
  readonly nanos: bigint;
  readonly line: string;
  readonly metadata: Labels;
}

export class LokiEntryError extends Error {}

/** Called for every entry in order; stream and entry count from 0. `read` throws `LokiEntryError`. */
export type LokiVisitor = (
  labels: () => Labels,
  position: { readonly stream: number; readonly entry: number },
  read: () => LokiEntry,
) => void;

/** False when the body is not such a request. */
export function visitJsonStreams(
  { frame, entry: entryAt }: JsonEntries,
  limits: IntakeLimits,
  visit: LokiVisitor,
): boolean {
  const streams = isObject(frame) ? frame['streams'] : null;
  if (!Array.isArray(streams)) return false;
  for (const [stream, value] of streams.entries()) {
    const labels = once(() => labelsOf(isObject(value) ? value['stream'] : null), limits);
    const values: unknown = isObject(value) ? value['values'] : null;
    if (!Array.isArray(values)) {
      visit(labels, { stream, entry: 0 }, () => {
        throw new LokiEntryError('values is no list');
      });
      continue;
    }
    for (const [entry, item] of values.entries()) {
      visit(labels, { stream, entry }, () => jsonEntry(entryOf(item, entryAt)));
    }
  }
  return true;
}

function entryOf(item: unknown, entryAt: (item: unknown) => unknown): unknown {
  try {
    return entryAt(item);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new LokiEntryError(error.reason);
    throw error;
  }
}

/** Labels, or their problem, made once per stream: a stream may have thousands of entries. */
function once(make: () => Labels, limits: IntakeLimits): () => Labels {
  let made: Labels | LokiEntryError | undefined;
  const checked = (): Labels | LokiEntryError => {
    try {
      const labels = make();
      const problem = fieldsProblem(labels, limits);
      return problem === null ? labels : new LokiEntryError(`labels: ${problem}`);
    } catch (error) {
      if (error instanceof LokiEntryError) return error;
      throw error;
    }
  };
  return () => {
    made ??= checked();
    if (made instanceof LokiEntryError) throw made;
    return made;
  };
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

/** Expects uncompressed bytes. Throws `ProtobufError`. */
export function visitProtobufStreams(
  bytes: Uint8Array,
  limits: IntakeLimits,
  visit: LokiVisitor,
): void {
  const request = new ProtobufReader(bytes);
  for (let stream = 0; request.next();) {
    if (request.field !== 1) continue;
    visitStream(request.message(), stream, limits, visit);
    stream += 1;
  }
}

function visitStream(
  message: ProtobufReader,
  stream: number,
  limits: IntakeLimits,
  visit: LokiVisitor,
): void {
  let text = '';
  const entries: Uint8Array[] = [];
  while (message.next()) {
    if (message.field === 1) text = message.text();
    // The visitor throws at the first entry too many.
    else if (message.field === 2 && entries.length <= limits.maxEvents)
      entries.push(message.bytes());
  }
  const labels = once(() => {
    if (text.length > 2 * limits.maxEventBytes) throw new LokiEntryError('the labels are too long');
    return parseLabels(text);
  }, limits);
  for (const [entry, bytes] of entries.entries()) {
    visit(labels, { stream, entry }, () =>
      protobufEntry(new ProtobufReader(bytes), limits.maxFields),
    );
  }
}

function protobufEntry(message: ProtobufReader, maxFields: number): LokiEntry {
  let nanos = 0n;
  let line = '';
  const metadata = Object.create(null) as Labels;
  let pairs = 0;
  while (message.next()) {
    if (message.field === 1) nanos = timestampIn(message.message());
    else if (message.field === 2) line = message.text();
    else if (message.field === 3) {
      if (++pairs > maxFields) throw new LokiEntryError('too much metadata');
      addLabel(metadata, message.message());
    }
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

// Counts escapes: alternation per character would take seconds in a megabyte of text.
const LABEL = /\s*([a-zA-Z_][\w.:-]*)\s*=\s*("[^"\\]*(?:\\.[^"\\]*){0,5000}"|`[^`]*`)\s*(,|$)/gsy;

/** Reads `{name="value", ...}`. Throws `LokiEntryError`. */
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
