/**
 * The log records of an OTLP request, JSON or protobuf, in one shape.
 *
 * JSON may use camelCase or snake_case, and text or numbers for 64-bit integers. Attribute values become plain JSON:
 * bytes as base64, NaN and infinities as text, integers beyond 2^53 as bigint.
 */
import { JsonNumber } from '../../../base/json/json.ts';
import type { IntakeLimits } from '../intake.ts';
import { fieldsProblem } from '../intake.ts';
import { isObject, JsonBoundsError, MAX_EVENT_VALUES } from '../json-text.ts';
import type { JsonEntries } from './json-entries.ts';
import { ProtobufReader } from './protobuf.ts';

type Attributes = Record<string, unknown>;

/** Shared by the records of one resource and scope. */
export interface OtlpOrigin {
  readonly resource: Attributes;
  /** Empty when missing. */
  readonly scope: string;
  /** Why none of its records can be an event; checked once for what may be thousands of records. */
  readonly problem: string | null;
}

export interface OtlpRecord {
  timeNanos: bigint;
  observedNanos: bigint;
  severityNumber: number;
  severityText: string;
  body: unknown;
  attributes: Attributes;
  /** Lower-case hex, empty when missing. */
  traceId: string;
  spanId: string;
  eventName: string;
}

/** An unusable record; others of the request are still accepted. */
export class OtlpRecordError extends Error {}

/** Called for every record in order. `read` throws `OtlpRecordError`. */
type OtlpVisitor = (origin: OtlpOrigin, read: () => OtlpRecord) => void;

/** False when the body is not such a request. Throws `OtlpRecordError` for an invalid frame. */
export function visitJsonRecords(
  { frame, entry }: JsonEntries,
  limits: IntakeLimits,
  visit: OtlpVisitor,
): boolean {
  if (!isObject(frame)) return false;
  for (const resourceLogs of framedList(frame, 'resourceLogs')) {
    const resource = attributesOf(listOf(member(resourceLogs, 'resource'), 'attributes'));
    for (const scopeLogs of framedList(resourceLogs, 'scopeLogs')) {
      const name = member(member(scopeLogs, 'scope'), 'name');
      const origin = originOf(resource, typeof name === 'string' ? name : '', limits);
      for (const record of framedList(scopeLogs, 'logRecords')) {
        visit(origin, () => jsonRecord(recordOf(record, entry)));
      }
    }
  }
  return true;
}

function originOf(resource: Attributes, scope: string, limits: IntakeLimits): OtlpOrigin {
  const problem = fieldsProblem({ resource, scope }, limits);
  return { resource, scope, problem: problem === null ? null : `resource and scope: ${problem}` };
}

function recordOf(record: unknown, entry: (item: unknown) => unknown): unknown {
  try {
    return entry(record);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new OtlpRecordError(error.reason);
    throw error;
  }
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

/** An unreadable list might hold any number of records, so the whole request is refused. */
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

/** 64 bits, from text or number; null otherwise. */
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

/** Throws `ProtobufError`. */
export function visitProtobufRecords(
  bytes: Uint8Array,
  limits: IntakeLimits,
  visit: OtlpVisitor,
): void {
  const request = new ProtobufReader(bytes);
  while (request.next()) {
    if (request.field === 1) visitResourceLogs(request.bytes(), limits, visit);
  }
}

class ValueBudget {
  #left = MAX_EVENT_VALUES;

  spend(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new OtlpRecordError(`More than ${MAX_EVENT_VALUES} values`);
  }
}

function visitResourceLogs(bytes: Uint8Array, limits: IntakeLimits, visit: OtlpVisitor): void {
  // The resource may come after its records.
  let resource = noAttributes();
  const scopes: Uint8Array[] = [];
  const message = new ProtobufReader(bytes);
  while (message.next()) {
    if (message.field === 1)
      resource = attributesIn(message.message(), limits.maxDepth, new ValueBudget());
    else if (message.field === 2) scopes.push(message.bytes());
    if (scopes.length > limits.maxEvents) throw new OtlpRecordError('too many scopes');
  }
  for (const scope of scopes) visitScopeLogs(scope, resource, limits, visit);
}

function visitScopeLogs(
  bytes: Uint8Array,
  resource: Attributes,
  limits: IntakeLimits,
  visit: OtlpVisitor,
): void {
  let scope = '';
  const records: Uint8Array[] = [];
  const message = new ProtobufReader(bytes);
  while (message.next()) {
    if (message.field === 1) scope = nameIn(message.message());
    // The visitor throws at the first record too many.
    else if (message.field === 2 && records.length <= limits.maxEvents)
      records.push(message.bytes());
  }
  const origin = originOf(resource, scope, limits);
  for (const record of records) visit(origin, () => protobufRecord(record, limits.maxDepth));
}

function nameIn(message: ProtobufReader): string {
  let name = '';
  while (message.next()) if (message.field === 1) name = message.text();
  return name;
}

function attributesIn(message: ProtobufReader, maxDepth: number, budget: ValueBudget): Attributes {
  const attributes = noAttributes();
  while (message.next()) {
    if (message.field === 1) addPair(attributes, message.message(), maxDepth, budget);
  }
  return attributes;
}

function addPair(
  attributes: Attributes,
  pair: ProtobufReader,
  maxDepth: number,
  budget: ValueBudget,
): void {
  budget.spend();
  let key = '';
  let value: unknown = null;
  while (pair.next()) {
    if (pair.field === 1) key = pair.text();
    else if (pair.field === 2) value = protobufValue(pair.message(), maxDepth, budget) ?? null;
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
  const budget = new ValueBudget();
  while (message.next()) readRecordField(record, message, maxDepth, budget);
  return record;
}

function readRecordField(
  record: OtlpRecord,
  message: ProtobufReader,
  maxDepth: number,
  budget: ValueBudget,
): void {
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
      record.body = protobufValue(message.message(), maxDepth, budget);
      break;
    case 6:
      addPair(record.attributes, message.message(), maxDepth, budget);
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

function protobufValue(message: ProtobufReader, depth: number, budget: ValueBudget): unknown {
  // Allows one level too many, so that the later check reports it in the same way for both encodings.
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
        value = valuesIn(message.message(), depth - 1, budget);
        break;
      case 6:
        value = attributesIn(message.message(), depth - 1, budget);
        break;
      case 7:
        value = Buffer.from(message.bytes()).toString('base64');
        break;
      default:
    }
  }
  return value;
}

function valuesIn(message: ProtobufReader, depth: number, budget: ValueBudget): unknown[] {
  const values: unknown[] = [];
  while (message.next()) {
    if (message.field !== 1) continue;
    budget.spend();
    values.push(protobufValue(message.message(), depth, budget) ?? null);
  }
  return values;
}
