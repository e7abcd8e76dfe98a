/**
 * The log records of an OTLP request in JSON or protobuf, in one shape (EV-74).
 *
 * JSON takes camelCase and snake_case, 64-bit numbers as text or number. Attribute values become plain JSON values: bytes
 * as base64, NaN and infinities as text, integers past 2^53 as bigint.
 */
import { JsonNumber } from '../../base/json.ts';
import { isObject } from '../json-text.ts';
import { ProtobufReader } from './protobuf.ts';

/** Attributes by name. */
type Attributes = Record<string, unknown>;

/** What the records of one resource and scope have in common. */
export interface OtlpOrigin {
  readonly resource: Attributes;
  /** `''` for none. */
  readonly scope: string;
}

/** One log record. */
export interface OtlpRecord {
  timeNanos: bigint;
  observedNanos: bigint;
  severityNumber: number;
  severityText: string;
  /** Undefined for none. */
  body: unknown;
  attributes: Attributes;
  /** Lower-case hex, `''` for none. */
  traceId: string;
  spanId: string;
  eventName: string;
}

/** A record that cannot be used; the others of the request can. */
export class OtlpRecordError extends Error {}

/** Told of every record in order. `read` throws `OtlpRecordError` for a bad one. */
type OtlpVisitor = (origin: OtlpOrigin, read: () => OtlpRecord) => void;

/** The records of a parsed JSON request; false when it is none. Throws `OtlpRecordError` for one whose frame is no such request. */
export function visitJsonRecords(request: unknown, visit: OtlpVisitor): boolean {
  if (!isObject(request)) return false;
  for (const resourceLogs of framedList(request, 'resourceLogs')) {
    const resource = attributesOf(listOf(member(resourceLogs, 'resource'), 'attributes'));
    for (const scopeLogs of framedList(resourceLogs, 'scopeLogs')) {
      const name = member(member(scopeLogs, 'scope'), 'name');
      const origin = { resource, scope: typeof name === 'string' ? name : '' };
      for (const record of framedList(scopeLogs, 'logRecords')) {
        visit(origin, () => jsonRecord(record));
      }
    }
  }
  return true;
}

function member(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.hasOwn(value, snake) ? value[snake] : undefined;
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name);
  return Array.isArray(list) ? list : [];
}

/** A list of the frame around records. One that cannot be read may hold any number of them, so the request is refused. */
function framedList(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name) ?? [];
  if (isObject(value) && Array.isArray(list)) return list;
  throw new OtlpRecordError(`${name} is no list, or not in an object`);
}

function jsonRecord(record: unknown): OtlpRecord {
  if (!isObject(record)) throw new OtlpRecordError('the record is no object');
  return {
    timeNanos: nanosOf(member(record, 'timeUnixNano')),
    observedNanos: nanosOf(member(record, 'observedTimeUnixNano')),
    severityNumber: Number(integerOf(member(record, 'severityNumber')) ?? 0n),
    severityText: textOf(member(record, 'severityText')),
    body: anyValue(member(record, 'body')),
    attributes: attributesOf(listOf(record, 'attributes')),
    traceId: textOf(member(record, 'traceId')).toLowerCase(),
    spanId: textOf(member(record, 'spanId')).toLowerCase(),
    eventName: textOf(member(record, 'eventName')),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function nanosOf(value: unknown): bigint {
  if (value === undefined || value === null) return 0n;
  const nanos = integerOf(value);
  if (nanos === null || nanos < 0n) throw new OtlpRecordError('a time is no number of nanoseconds');
  return nanos;
}

/** A number of 64 bits as text or number; null for anything else. */
function integerOf(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  const text = value instanceof JsonNumber ? value.source : value;
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? BigInt(text) : null;
}

function attributesOf(list: readonly unknown[]): Attributes {
  const attributes = noAttributes();
  for (const item of list) {
    const key = member(item, 'key');
    if (typeof key === 'string') attributes[key] = anyValue(member(item, 'value')) ?? null;
  }
  return attributes;
}

function noAttributes(): Attributes {
  return Object.create(null) as Attributes;
}

/** The plain value; undefined for none. */
function anyValue(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const text = member(value, 'stringValue');
  if (typeof text === 'string') return text;
  const flag = member(value, 'boolValue');
  if (typeof flag === 'boolean') return flag;
  const whole = integerOf(member(value, 'intValue'));
  if (whole !== null) return plainInteger(whole);
  const double = member(value, 'doubleValue');
  if (double !== undefined)
    return typeof double === 'string' ? plainDouble(Number(double)) : double;
  const list = member(value, 'arrayValue');
  if (isObject(list)) return listOf(list, 'values').map((item) => anyValue(item) ?? null);
  const pairs = member(value, 'kvlistValue');
  if (isObject(pairs)) return attributesOf(listOf(pairs, 'values'));
  const bytes = member(value, 'bytesValue');
  return typeof bytes === 'string' ? bytes : undefined;
}

function plainInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function plainDouble(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** The records of a protobuf request. Throws `ProtobufError` for damaged bytes. */
export function visitProtobufRecords(
  bytes: Uint8Array,
  maxDepth: number,
  visit: OtlpVisitor,
): void {
  const request = new ProtobufReader(bytes);
  while (request.next()) {
    if (request.field === 1) visitResourceLogs(request.bytes(), maxDepth, visit);
  }
}

function visitResourceLogs(bytes: Uint8Array, maxDepth: number, visit: OtlpVisitor): void {
  // The resource may stand behind its records.
  let resource = noAttributes();
  const scopes: Uint8Array[] = [];
  const message = new ProtobufReader(bytes);
  while (message.next()) {
    if (message.field === 1) resource = attributesIn(message.message(), 1, maxDepth);
    else if (message.field === 2) scopes.push(message.bytes());
  }
  for (const scope of scopes) visitScopeLogs(scope, resource, maxDepth, visit);
}

function visitScopeLogs(
  bytes: Uint8Array,
  resource: Attributes,
  maxDepth: number,
  visit: OtlpVisitor,
): void {
  let scope = '';
  const records: Uint8Array[] = [];
  const message = new ProtobufReader(bytes);
  while (message.next()) {
    if (message.field === 1) scope = nameIn(message.message());
    else if (message.field === 2) records.push(message.bytes());
  }
  const origin = { resource, scope };
  for (const record of records) visit(origin, () => protobufRecord(record, maxDepth));
}

function nameIn(message: ProtobufReader): string {
  let name = '';
  while (message.next()) if (message.field === 1) name = message.text();
  return name;
}

function attributesIn(message: ProtobufReader, field: number, maxDepth: number): Attributes {
  const attributes = noAttributes();
  while (message.next()) {
    if (message.field === field) addPair(attributes, message.message(), maxDepth);
  }
  return attributes;
}

function addPair(attributes: Attributes, pair: ProtobufReader, maxDepth: number): void {
  let key = '';
  let value: unknown = null;
  while (pair.next()) {
    if (pair.field === 1) key = pair.text();
    else if (pair.field === 2) value = protobufValue(pair.message(), maxDepth) ?? null;
  }
  attributes[key] = value;
}

function protobufRecord(bytes: Uint8Array, maxDepth: number): OtlpRecord {
  const record: OtlpRecord = {
    timeNanos: 0n,
    observedNanos: 0n,
    severityNumber: 0,
    severityText: '',
    body: undefined,
    attributes: noAttributes(),
    traceId: '',
    spanId: '',
    eventName: '',
  };
  const message = new ProtobufReader(bytes);
  while (message.next()) readRecordField(record, message, maxDepth);
  return record;
}

function readRecordField(record: OtlpRecord, message: ProtobufReader, maxDepth: number): void {
  switch (message.field) {
    case 1:
      record.timeNanos = message.fixed64();
      break;
    case 2:
      record.severityNumber = message.number();
      break;
    case 3:
      record.severityText = message.text();
      break;
    case 5:
      record.body = protobufValue(message.message(), maxDepth);
      break;
    case 6:
      addPair(record.attributes, message.message(), maxDepth);
      break;
    case 9:
      record.traceId = Buffer.from(message.bytes()).toString('hex');
      break;
    case 10:
      record.spanId = Buffer.from(message.bytes()).toString('hex');
      break;
    case 11:
      record.observedNanos = message.fixed64();
      break;
    case 12:
      record.eventName = message.text();
      break;
    default:
  }
}

function protobufValue(message: ProtobufReader, depth: number): unknown {
  // One level more than allowed: the check of the record then says so in one way for both encodings.
  if (depth < -1) throw new OtlpRecordError('a value is nested too deeply');
  let value: unknown;
  while (message.next()) {
    switch (message.field) {
      case 1:
        value = message.text();
        break;
      case 2:
        value = message.number() !== 0;
        break;
      case 3:
        value = plainInteger(message.int64());
        break;
      case 4:
        value = plainDouble(message.double());
        break;
      case 5:
        value = valuesIn(message.message(), depth - 1);
        break;
      case 6:
        value = attributesIn(message.message(), 1, depth - 1);
        break;
      case 7:
        value = Buffer.from(message.bytes()).toString('base64');
        break;
      default:
    }
  }
  return value;
}

function valuesIn(message: ProtobufReader, depth: number): unknown[] {
  const values: unknown[] = [];
  while (message.next()) {
    if (message.field === 1) values.push(protobufValue(message.message(), depth) ?? null);
  }
  return values;
}
