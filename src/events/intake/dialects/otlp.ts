/**
 * OTLP/HTTP logs, JSON and protobuf.
 */
import type {
  Dialect,
  Entry,
  IntakeLimits,
  IntakeAnswer,
  IntakeOrder,
  IntakeTools,
  Stored,
} from '../intake.ts';
import { answerWith, IntakeRefusal } from '../intake.ts';
import { exactJson, isDeeper, JsonParseError } from '../json-text.ts';
import { Entries, lenientText, nanosText, tooManyEvents } from '../wire/entries.ts';
import { readEntries } from '../wire/json-entries.ts';
import type { OtlpOrigin, OtlpRecord } from '../wire/otlp-records.ts';
import { OtlpRecordError, visitJsonRecords, visitProtobufRecords } from '../wire/otlp-records.ts';
import { ProtobufError, protobufMessage } from '../wire/protobuf.ts';

export const PROTOBUF = 'application/x-protobuf';

const INVALID_ARGUMENT = 3;
const FRAME_DEPTH = 100;
const LISTS = { depth: 6, names: ['logRecords', 'log_records'] };

/** Mode `json` or `protobuf`; the answer uses the same. */
export const otlp: Dialect = {
  name: 'otlp',
  read(body, order, tools) {
    const entries = new Entries(tools, body.length, (message) => refusal(order, 413, message));
    const visit = (origin: OtlpOrigin, read: () => OtlpRecord): void =>
      take(origin, read, { order, entries, limits: tools.limits });
    try {
      visitAll(body, order, tools, visit);
    } catch (error) {
      if (error instanceof ProtobufError || error instanceof OtlpRecordError)
        throw refusal(order, 400, error.message);
      throw error;
    }
    return entries.reading((stored) => answerOf(entries, order, stored));
  },
};

/** google.rpc.Status in the encoding of the request. */
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
    visitProtobufRecords(body, limits, visit);
    return;
  }
  try {
    // A record nested too deep is rejected alone; the frame around records has levels of its own.
    const maxDepth = limits.maxDepth + FRAME_DEPTH;
    const tooMany = () => refusal(order, 413, tooManyEvents(limits));
    const request = readEntries(body, LISTS, { limits, maxDepth, decode: lenientText, tooMany });
    if (!visitJsonRecords(request, limits, visit))
      throw refusal(order, 400, 'The request is no object');
  } catch (error) {
    if (error instanceof JsonParseError) throw refusal(order, 400, error.message);
    throw error;
  }
}

function take(
  origin: OtlpOrigin,
  read: () => OtlpRecord,
  { order, entries, limits }: { order: IntakeOrder; entries: Entries; limits: IntakeLimits },
): void {
  const index = entries.next();
  let record: OtlpRecord;
  try {
    if (origin.problem !== null) throw new OtlpRecordError(origin.problem);
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

/** Null: nothing to store. */
function entryOf({ resource, scope }: OtlpOrigin, record: OtlpRecord): Entry | null {
  const { body, attributes } = record;
  const text = textIn(body);
  if (text.trim() === '' && isEmpty(attributes)) return null;
  // An event must not be blank.
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
