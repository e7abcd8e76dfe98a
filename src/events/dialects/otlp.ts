/**
 * OTLP/HTTP logs, JSON and protobuf (EV-74).
 */
import type {
  Dialect,
  Entry,
  IntakeLimits,
  IntakeAnswer,
  IntakeOrder,
  IntakeTools,
  Reading,
  Stored,
} from '../intake.ts';
import { answerWith, IntakeRefusal } from '../intake.ts';
import { exactJson, isDeeper, JsonParseError, parseEventJson } from '../json-text.ts';
import { Entries, lenientText, nanosText } from '../wire/entries.ts';
import type { OtlpOrigin, OtlpRecord } from '../wire/otlp-records.ts';
import { OtlpRecordError, visitJsonRecords, visitProtobufRecords } from '../wire/otlp-records.ts';
import { ProtobufError, protobufMessage } from '../wire/protobuf.ts';

/** Media type of binary OTLP and Loki requests. */
export const PROTOBUF = 'application/x-protobuf';

const INVALID_ARGUMENT = 3;
const FRAME_DEPTH = 100;

/** Mode `json` or `protobuf`; the answer comes in the same. */
export const otlp: Dialect = {
  name: 'otlp',
  read(body, order, tools) {
    const entries = new Entries(tools, (message) => refusal(order, 413, message));
    const visit = (origin: OtlpOrigin, read: () => OtlpRecord): void =>
      take(origin, read, { order, entries, limits: tools.limits });
    try {
      visitAll(body, order, tools, visit);
    } catch (error) {
      if (error instanceof ProtobufError || error instanceof OtlpRecordError)
        throw refusal(order, 400, error.message);
      throw error;
    }
    const { drafts, rejections, rejected } = entries;
    return {
      drafts,
      rejections,
      rejected,
      answer: (stored) => answerOf(entries, order, stored),
    } satisfies Reading;
  },
};

/** A failure as google.rpc.Status in the encoding of the request. */
export function otlpStatus(isBinary: boolean, code: number, message: string): Uint8Array | string {
  if (!isBinary) return JSON.stringify({ code, message });
  return protobufMessage([
    [1, code],
    [2, message],
  ]);
}

function refusal(order: IntakeOrder, status: number, message: string): IntakeRefusal {
  const isBinary = order.mode === 'protobuf';
  const headers = { 'Content-Type': isBinary ? PROTOBUF : 'application/json' };
  return new IntakeRefusal(
    status,
    otlpStatus(isBinary, INVALID_ARGUMENT, message),
    message,
    headers,
  );
}

function visitAll(
  body: Uint8Array,
  order: IntakeOrder,
  { limits }: IntakeTools,
  visit: (origin: OtlpOrigin, read: () => OtlpRecord) => void,
): void {
  if (order.mode === 'protobuf') {
    visitProtobufRecords(body, limits.maxDepth, visit);
    return;
  }
  let request: unknown;
  try {
    // What is too deep in a record is left out alone; the frame around records has levels of its own.
    request = parseEventJson(lenientText(body), limits.maxDepth + FRAME_DEPTH);
  } catch (error) {
    if (error instanceof JsonParseError) throw refusal(order, 400, error.message);
    throw error;
  }
  if (!visitJsonRecords(request, visit)) throw refusal(order, 400, 'The request is no object');
}

function take(
  origin: OtlpOrigin,
  read: () => OtlpRecord,
  { order, entries, limits }: { order: IntakeOrder; entries: Entries; limits: IntakeLimits },
): void {
  const index = entries.next();
  let record: OtlpRecord;
  try {
    record = read();
    const { maxDepth } = limits;
    if (isDeeper(record.attributes, maxDepth) || isDeeper(record.body, maxDepth))
      throw new OtlpRecordError(`a value is nested deeper than ${maxDepth}`);
  } catch (error) {
    if (!(error instanceof OtlpRecordError)) throw error;
    entries.reject(`record ${index}`, error.message, () => '');
    return;
  }
  const entry = entryOf(origin, record);
  if (entry === null) return;
  const problem = entries.add(entry, {
    sourcetype: 'otlp',
    source: 'otlp',
    host: order.clientAddress,
  });
  if (problem !== null) entries.reject(`record ${index}`, problem.reason, () => entry.data);
}

/** Null for a record without anything to store. */
function entryOf({ resource, scope }: OtlpOrigin, record: OtlpRecord): Entry | null {
  const { body, attributes } = record;
  const text = textIn(body);
  if (text.trim() === '' && isEmpty(attributes)) return null;
  // An event is never blank; what says most takes the place of the body.
  const data = text.trim() === '' ? record.eventName || exactJson(attributes) : text;
  const fields: Record<string, unknown> = Object.assign(Object.create(null), attributes);
  const set = (name: string, value: unknown): void => {
    if (value !== '' && value !== 0) fields[name] = value;
  };
  set('severity', record.severityText);
  set('severity_number', record.severityNumber);
  set('trace_id', record.traceId);
  set('span_id', record.spanId);
  set('scope', scope);
  if (!isEmpty(resource)) fields['resource'] = resource;
  set('event_name', record.eventName);
  return {
    index: textOf(resource['svc.index']),
    source: textOf(resource['service.name']),
    host: textOf(resource['host.name']),
    data,
    fields,
    eventTime: nanosText(record.timeNanos) ?? nanosText(record.observedNanos),
  };
}

function textIn(body: unknown): string {
  if (body === undefined || body === null) return '';
  return typeof body === 'string' ? body : exactJson(body);
}

function isEmpty(attributes: Record<string, unknown>): boolean {
  for (const _ in attributes) return false;
  return true;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function answerOf(
  { rejected, rejections }: Entries,
  order: IntakeOrder,
  stored: Stored,
): IntakeAnswer {
  const reason = rejections[0]?.reason ?? '';
  if (order.mode === 'protobuf' && !order.isDryRun) {
    const partial = protobufMessage([
      [1, rejected],
      [2, reason],
    ]);
    const body = protobufMessage([[1, partial]]);
    return { status: 200, headers: { 'Content-Type': PROTOBUF }, body };
  }
  const partial = { rejectedLogRecords: String(rejected), errorMessage: reason };
  return answerWith(200, { partialSuccess: rejected === 0 ? {} : partial }, order, stored);
}
