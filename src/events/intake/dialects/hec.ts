/**
 * Splunk's HTTP Event Collector: `event` and `raw`.
 */
import type {
  Dialect,
  IntakeAnswer,
  IntakeOrder,
  IntakeTools,
  MetaName,
  Stored,
} from '../intake.ts';
import { answerWith, IntakeRefusal, META_NAMES } from '../intake.ts';
import type { EntryProblem } from '../intake.ts';
import { exactJson, isObject, JsonParseError, parseEntry } from '../json-text.ts';
import { cutMicros } from '../../event-time.ts';
import { Entries, lenientText, Lines, microsText, numberOf } from '../wire/entries.ts';
import type { JsonPiece } from '../wire/json-run.ts';
import { JsonRun } from '../wire/json-run.ts';

export const HEC_TEXTS = {
  0: 'Success',
  1: 'Token disabled',
  2: 'Token is required',
  3: 'Invalid authorization',
  4: 'Invalid token',
  5: 'No data',
  6: 'Invalid data format',
  7: 'Incorrect index',
  8: 'Internal server error',
  9: 'Server is busy',
  10: 'Data channel is missing',
  11: 'Invalid data channel',
  12: 'Event field is required',
  13: 'Event field cannot be blank',
  14: 'ACK is disabled',
  15: 'Error in handling indexed fields',
  17: 'HEC is healthy',
  18: 'HEC is unhealthy, queues are full',
  23: 'Server is shutting down',
  27: 'Request entity too large',
} as const;
export type HecCode = keyof typeof HEC_TEXTS;

const MAX_LISTED_ERRORS = 100;
const HEADERS = { 'Content-Type': 'application/json' };
const DEFAULTS = { sourcetype: 'default', source: 'hec' };
const CHANNEL = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;

export const hec: Dialect = {
  name: 'hec',
  read(body, order, tools) {
    const channel = channelOf(order);
    const entries = new Entries(tools, body.length, () => refusal(413, 27));
    if (order.mode === 'raw') readRaw(body, order, entries, tools);
    else readEvents(body, order, entries, tools);
    if (entries.seen === 0) throw refusal(400, 5);
    return {
      ...entries.reading((stored) => answerOf(entries, order, stored)),
      channel: entries.rejected === 0 ? channel : null,
    };
  },
};

/** Throws for a channel that is not a UUID. */
function channelOf({ headers, parameters }: IntakeOrder): string | null {
  const given = headers['x-splunk-request-channel'] ?? parameters['channel'] ?? '';
  if (given === '') return null;
  if (!isChannel(given)) throw refusal(400, 11);
  return channelKey(given);
}

export function isChannel(text: string): boolean {
  return CHANNEL.test(text);
}

export function channelKey(text: string): string {
  return text.replaceAll('-', '').toLowerCase();
}

function refusal(status: number, code: HecCode): IntakeRefusal {
  const text = HEC_TEXTS[code];
  return new IntakeRefusal(status, JSON.stringify({ text, code }), text, HEADERS);
}

function answerOf(entries: Entries, order: IntakeOrder, stored: Stored): IntakeAnswer {
  const { rejected, rejections, drafts } = entries;
  if (rejected === 0) {
    const ack = stored.ackId === null ? {} : { ackId: stored.ackId };
    return answerWith(200, { text: HEC_TEXTS[0], code: 0, ...ack }, order, stored);
  }
  const errors = rejections.slice(0, MAX_LISTED_ERRORS).map(({ details }) => details as HecError);
  const [{ text, code, index }] = errors as [HecError];
  const counts = { accepted: drafts.length, rejected };
  const members = { text, code, 'invalid-event-number': index, ...counts, errors };
  return answerWith(400, members, order, stored);
}

interface HecError {
  readonly line: number;
  readonly index: number;
  readonly text: string;
  readonly code: HecCode;
}

function readRaw(
  body: Uint8Array,
  order: IntakeOrder,
  entries: Entries,
  { limits }: IntakeTools,
): void {
  const defaults = { ...DEFAULTS, host: order.clientAddress };
  const lines = new Lines(body);
  for (let line = lines.next(); line !== null; line = lines.next()) {
    const index = entries.next();
    const problem = entries.add({ data: lineText(line, limits.maxEventBytes) }, defaults);
    if (problem === null) continue;
    const fault = new Fault(codeOf(problem), problem.reason);
    rejectEntry(entries, { bytes: line, line: lines.number }, index, fault);
  }
}

/** Without its end; of a line that is too long only so much that it is refused. */
function lineText(line: Uint8Array, maxBytes: number): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === 0x0d) end -= 1;
  if (end <= maxBytes) return lenientText(line.subarray(0, end));
  return `${lenientText(line.subarray(0, maxBytes))}…`;
}

class Fault {
  constructor(
    readonly code: HecCode,
    readonly reason: string = HEC_TEXTS[code],
  ) {}
}

function readEvents(
  body: Uint8Array,
  order: IntakeOrder,
  entries: Entries,
  tools: IntakeTools,
): void {
  const run = new JsonRun(body);
  for (let piece = run.next(); piece !== null; piece = run.next()) {
    const index = entries.next();
    const value = piece.isWhole ? objectOf(piece, tools) : new Fault(6);
    if (value instanceof Fault && piece.isWhole) run.skipDamaged();
    const fault = value instanceof Fault ? value : take(value, order, entries);
    if (fault !== null) rejectEntry(entries, piece, index, fault);
  }
}

function rejectEntry(
  entries: Entries,
  { bytes, line }: Pick<JsonPiece, 'bytes' | 'line'>,
  index: number,
  { code, reason }: Fault,
): void {
  const details: HecError = { line, index, text: HEC_TEXTS[code], code };
  const sample = () => lenientText(bytes.subarray(0, 2048));
  entries.reject(`line ${line}, event ${index}`, reason, sample, details);
}

function objectOf({ bytes }: JsonPiece, { limits }: IntakeTools): Record<string, unknown> | Fault {
  try {
    return parseEntry(bytes, lenientText, limits) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof JsonParseError) return new Fault(6, error.message);
    throw error;
  }
}

function take(value: Record<string, unknown>, order: IntakeOrder, entries: Entries): Fault | null {
  const event = Object.hasOwn(value, 'event') ? value['event'] : null;
  if (event === null) return new Fault(12);
  const data = typeof event === 'string' ? event : exactJson(event);
  if (data.trim() === '') return new Fault(13);
  const fields = Object.hasOwn(value, 'fields') ? (value['fields'] ?? undefined) : undefined;
  if (fields !== undefined && !isObject(fields)) return new Fault(15, 'fields is not an object');
  const eventTime = timeOf(value['time']);
  if (eventTime === undefined) return new Fault(6, 'time is no number of seconds');
  const meta: Partial<Record<MetaName, string>> = {};
  for (const name of META_NAMES) {
    const text = metaText(value[name]);
    if (text === null) return new Fault(6, `${name} is not a string`);
    meta[name] = text;
  }
  const isJson = typeof event === 'object' && (isObject(event) || Array.isArray(event));
  const problem = entries.add(
    { ...meta, data, fields, eventTime },
    { source: 'hec', sourcetype: isJson ? 'json' : 'default', host: order.clientAddress },
  );
  return problem === null ? null : new Fault(codeOf(problem), problem.reason);
}

function codeOf({ part }: EntryProblem): HecCode {
  if (part === 'right') return 7;
  return part === 'fields' ? 15 : 6;
}

/** Empty when missing; null when not text. */
function metaText(value: unknown): string | null {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return numberOf(value) === null ? null : exactJson(value);
}

/** Null when missing, undefined when not a time. */
function timeOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  const seconds =
    typeof value === 'string' && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(value)
      ? value.trim()
      : numberOf(value);
  if (seconds === null) return undefined;
  return microsText(cutMicros(seconds, 6)) ?? undefined;
}
