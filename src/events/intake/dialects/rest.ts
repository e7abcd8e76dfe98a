/** `POST /api/events/`: one event, an array, or one event per line. */
import type { EventDraft } from '../../event.ts';
import type { Drafts } from '../drafts.ts';
import type {
  Dialect,
  IntakeAnswer,
  IntakeOrder,
  IntakeTools,
  Reading,
  Stored,
} from '../intake.ts';
import { IntakeRefusal, META_NAMES, Rejection } from '../intake.ts';
import { decodeUtf8, isObject, JsonParseError, parseEntry } from '../json-text.ts';
import type { FieldErrors } from '../validation.ts';
import { metaOf, notAnObject, readEvent } from '../validation.ts';
import { lenientText, Lines, tooManyEvents } from '../wire/entries.ts';
import { isJournalEntry, restMembers } from '../wire/journal.ts';
import type { JsonEntries } from '../wire/json-entries.ts';
import { readEntries } from '../wire/json-entries.ts';

const MAX_LISTED_ERRORS = 100;
const MAX_SAMPLE = 2048;
const NO_PERMISSION = 'You do not have permission to perform this action.';
const NO_DATA =
  'This field is required. Objects that are log records as they are go in lines (Content-Type: application/x-ndjson) or to /services/collector/raw.';
const EVENT_MEMBERS: ReadonlySet<string> = new Set([
  ...META_NAMES,
  ...['data', 'extracted_fields', 'id', 'created', 'updated'],
]);
const JSON_HEADERS = { 'Content-Type': 'application/json' };
const LISTS = { depth: 1, names: null };
/** A list behind more white space is treated as a single event. */
const MAX_LEADING_BYTES = 4096;

/** Objects and arrays are all-or-nothing, NDJSON (mode `lines`) per entry; mode `form` reads form fields. */
export const rest: Dialect = {
  name: 'rest',
  read(body, order, tools) {
    return order.mode === 'lines' ? readLines(body, order, tools) : readJson(body, order, tools);
  },
};

function readJson(body: Uint8Array, order: IntakeOrder, tools: IntakeTools): Reading {
  const { frame, entry } = entriesOf(body, tools);
  if (!Array.isArray(frame)) {
    const errors: FieldErrors = {};
    const draft = draftOf(frame, order, tools, errors);
    if (draft === null) throw invalid(errors);
    if (!tools.mayWrite(draft.index)) throw refusal(403, NO_PERMISSION);
    tools.drafts.push(draft);
    return reading(tools.drafts, (stored) => created(order, stored, () => stored.events(1)));
  }
  requireCount(frame.length, tools);
  const { drafts } = tools;
  let failures: FieldErrors[] | null = null;
  let isForbidden = false;
  for (const [index, item] of frame.entries()) {
    const errors: FieldErrors = {};
    const draft = draftOf(
      parsed(() => entry(item)),
      order,
      tools,
      errors,
    );
    if (draft === null) (failures ??= Array.from(frame, () => ({})))[index] = errors;
    else if (failures === null) {
      isForbidden ||= !tools.mayWrite(draft.index);
      drafts.push(draft);
    }
  }
  if (failures !== null) throw invalid(failures);
  if (isForbidden) throw refusal(403, NO_PERMISSION);
  return reading(drafts, (stored) => created(order, stored, () => stored.array()));
}

function entriesOf(body: Uint8Array, tools: IntakeTools): JsonEntries {
  const { limits } = tools;
  const decode = decodeUtf8;
  const tooMany = () => tooManyOf(tools);
  return parsed(() =>
    /^\s*\[/.test(lenientText(body.subarray(0, MAX_LEADING_BYTES)))
      ? readEntries(body, LISTS, { limits, maxDepth: limits.maxDepth, decode, tooMany })
      : { frame: parseEntry(body, decode, limits), entry: (item) => item },
  );
}

function parsed<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonParseError) throw refusal(400, error.message);
    throw error;
  }
}

function draftOf(
  value: unknown,
  order: IntakeOrder,
  tools: IntakeTools,
  errors: FieldErrors,
): EventDraft | null {
  if (!isObject(value)) {
    Object.assign(errors, notAnObject(value));
    return null;
  }
  const isForm = order.mode === 'form';
  // `journalctl -o json` writes no `data`.
  const members = isJournalEntry(value) ? restMembers(value) : value;
  const sent = readEvent(members, tools.limits, { requiresData: true, isForm }, errors);
  if (sent.data === undefined && isRecord(members) && !isForm) errors['data'] = [NO_DATA];
  for (const _ in errors) return null;
  const meta = metaOf(sent, order.defaults);
  const data = sent.data!;
  // An index that may not be written is refused by the caller, and learns no columns.
  if (!tools.mayWrite(meta.index)) return { ...meta, data, fields: '{}', eventTime: null };
  const { text, eventTime, host } = tools.fieldsOf(
    { ...meta, data },
    sent.hasFields ? sent.fields : undefined,
  );
  const found = sent.host === undefined && order.defaults.host === undefined ? host : null;
  return { ...meta, host: found ?? meta.host, data, fields: text, eventTime };
}

function requireCount(count: number, tools: IntakeTools): void {
  const { limits } = tools;
  if (count > limits.maxEvents) throw tooManyOf(tools);
}

function tooManyOf({ limits }: IntakeTools): IntakeRefusal {
  return refusal(413, tooManyEvents(limits));
}

function reading(drafts: Drafts, answer: Reading['answer']): Reading {
  return { drafts, rejections: [], rejected: 0, answer };
}

function created(
  { isMinimal }: IntakeOrder,
  stored: Stored,
  whole: () => Iterable<string>,
): IntakeAnswer {
  if (!isMinimal) return { status: 201, headers: JSON_HEADERS, body: whole() };
  const headers = { ...JSON_HEADERS, 'Preference-Applied': 'return=minimal' };
  const body = JSON.stringify({ created: stored.count, ...idRange(stored) });
  return { status: 201, headers, body };
}

function idRange({ firstId, count }: Stored): { first_id: number | null; last_id: number | null } {
  return { first_id: firstId, last_id: firstId === null ? null : firstId + count - 1 };
}

interface LineError {
  readonly line: number;
  readonly error: unknown;
}

function readLines(body: Uint8Array, order: IntakeOrder, tools: IntakeTools): Reading {
  const { drafts } = tools;
  const rejections: Rejection[] = [];
  let rejected = 0;
  let entries = 0;
  const lines = new Lines(body);
  for (let bytes = lines.next(); bytes !== null; bytes = lines.next()) {
    requireCount((entries += 1), tools);
    const result = lineOf(bytes, order, tools);
    if ('data' in result) drafts.push(result as EventDraft);
    else {
      rejected += 1;
      if (rejections.length < MAX_LISTED_ERRORS)
        rejections.push(rejectionOf(lines.number, result, bytes));
    }
  }
  return {
    drafts,
    rejections,
    rejected,
    answer: (stored) => linesAnswer(stored, drafts.length, rejected, rejections),
  };
}

/** The event, or its error object. */
function lineOf(
  bytes: Uint8Array,
  order: IntakeOrder,
  tools: IntakeTools,
): EventDraft | { failure: unknown } {
  const errors: FieldErrors = {};
  try {
    const value = parseEntry(bytes, decodeUtf8, tools.limits);
    const isWhole = isRecord(value) && !isJournalEntry(value);
    const event = isWhole ? wholeLine(bytes, order) : value;
    const draft = draftOf(event, order, tools, errors);
    if (draft === null) return { failure: errors };
    if (tools.mayWrite(draft.index)) return draft;
    return { failure: { detail: `index '${draft.index}' is not permitted` } };
  } catch (error) {
    if (error instanceof JsonParseError) return { failure: { detail: error.message } };
    throw error;
  }
}

/** What loggers write: no event of ours without its data. */
function isRecord(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || Object.hasOwn(value, 'data')) return false;
  for (const name in value) if (!EVENT_MEMBERS.has(name)) return true;
  return false;
}

function wholeLine(bytes: Uint8Array, { defaults }: IntakeOrder): Record<string, unknown> {
  return { data: decodeUtf8(bytes), sourcetype: defaults.sourcetype ?? 'json' };
}

function rejectionOf(line: number, result: { failure: unknown }, bytes: Uint8Array): Rejection {
  const sample = Buffer.from(bytes.subarray(0, MAX_SAMPLE)).toString();
  const entry: LineError = { line, error: result.failure };
  return new Rejection(`line ${line}`, JSON.stringify(result.failure), sample, entry);
}

function linesAnswer(
  stored: Stored,
  accepted: number,
  rejected: number,
  rejections: readonly Rejection[],
): IntakeAnswer {
  const body = {
    accepted,
    rejected,
    ...idRange(stored),
    errors: rejections.map(({ details }) => details),
    errors_truncated: rejected > rejections.length,
  };
  return {
    status: accepted === 0 && rejected > 0 ? 400 : 201,
    headers: JSON_HEADERS,
    body: JSON.stringify(body),
  };
}

function invalid(errors: unknown): IntakeRefusal {
  return new IntakeRefusal(400, JSON.stringify(errors), 'Invalid event', JSON_HEADERS);
}

function refusal(status: number, detail: string): IntakeRefusal {
  return new IntakeRefusal(status, JSON.stringify({ detail }), detail, JSON_HEADERS);
}
