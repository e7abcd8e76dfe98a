/** Updates and deletions of single events, inside the writer's transaction. */
import type { Grants } from '../../accounts/rights/permissions.ts';
import { grantsCoverEvents } from '../../accounts/rights/permissions.ts';
import type { EventDraft, EventRow } from '../event.ts';
import { eventJson } from '../event.ts';
import type { Extraction } from '../intake/extract/extraction.ts';
import { eventTimeOf } from '../intake/extract/extraction.ts';
import {
  decodeUtf8,
  exactJson,
  isObject,
  JsonParseError,
  parseEntry,
  parseEventJson,
} from '../intake/json-text.ts';
import type { EventStore } from './store.ts';
import type { FieldErrors, SentEvent } from '../intake/validation.ts';
import { mergedMeta, notAnObject, readEvent } from '../intake/validation.ts';
import type { DeleteOrder, UpdateOrder, WriterAnswer, WriterSettings } from './writer-orders.ts';
import { EMPTY_ANSWER } from './writer-orders.ts';

const JSON_HEADERS = { 'Content-Type': 'application/json' };

interface ChangeTools {
  /** Microseconds. */
  readonly now: number;
  readonly settings: WriterSettings;
  readonly extraction: Extraction;
}

/** `ETag` and `If-Match` without quotes. */
function eventVersion({ id, updated }: Pick<EventRow, 'id' | 'updated'>): string {
  return `${id}.${updated}`;
}

export function changeEvent(
  store: EventStore,
  order: UpdateOrder,
  body: Uint8Array,
  tools: ChangeTools,
): () => WriterAnswer {
  const old = store.find(order.id);
  const refusal = refusalOf(old, order);
  if (refusal !== null || old === null) return () => refusal ?? notFound();
  const { limits } = tools.settings;
  let value: unknown;
  try {
    value = parseEntry(body, decodeUtf8, limits);
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    const { message } = error;
    return () => detail(400, message);
  }
  const errors: FieldErrors = isObject(value) ? {} : notAnObject(value);
  const sent = isObject(value)
    ? readEvent(value, limits, { requiresData: !order.isPartial, isForm: order.isForm }, errors)
    : null;
  if (sent === null || Object.keys(errors).length > 0) return () => invalid(errors);
  const draft = draftOf(old, sent, tools);
  if (!mayWrite(order, draft.index)) return () => forbidden(draft.index);
  const row = store.update(order.id, draft, tools.now);
  const headers = { ...JSON_HEADERS, ETag: `"${eventVersion(row)}"` };
  return () => ({
    ...EMPTY_ANSWER,
    status: 200,
    headers,
    body: eventJson(row),
    indexes: [draft.index],
  });
}

export function removeEvent(
  store: EventStore,
  order: DeleteOrder,
  now: number,
): () => WriterAnswer {
  const sealed = store.get(order.id) === null ? store.sealed.find(order.id) : null;
  const old = sealed ?? store.get(order.id);
  const refusal = refusalOf(old, order);
  if (refusal !== null || old === null) return () => refusal ?? notFound();
  if (sealed === null) store.delete([order.id]);
  else store.deleteSealed(sealed.part, [sealed], now);
  return () => ({ ...EMPTY_ANSWER, indexes: [old.index] });
}

function refusalOf(old: EventRow | null, order: UpdateOrder | DeleteOrder): WriterAnswer | null {
  if (old === null) return notFound();
  if (!mayWrite(order, old.index)) {
    return grantsCoverEvents(order.grants, old.index, 'read') ? forbidden(old.index) : notFound();
  }
  const { ifMatch } = order;
  if (ifMatch === null || ifMatch.trim() === '*') return null;
  // Strong comparison, ignoring the suffix that compressed answers add.
  const tags = [...ifMatch.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, tag]) =>
    weak === undefined ? tag!.replace(/-gz$/, '') : null,
  );
  return tags.includes(eventVersion(old)) ? null : detail(412, 'Precondition failed.');
}

function mayWrite(
  { grants, indexes }: { grants: Grants; indexes: readonly string[] | null },
  index: string,
): boolean {
  return grantsCoverEvents(grants, index, 'write') && (indexes === null || indexes.includes(index));
}

function draftOf(old: EventRow, sent: SentEvent, { extraction, now }: ChangeTools): EventDraft {
  const meta = mergedMeta(sent, old);
  const data = sent.data ?? old.data;
  if (sent.hasFields) {
    return { ...meta, data, fields: exactJson(sent.fields), eventTime: eventTimeOf(sent.fields) };
  }
  const oldFields = parseEventJson(old.fields, Infinity, Infinity);
  if (data === old.data && meta.sourcetype === old.sourcetype) {
    return { ...meta, data, fields: old.fields, eventTime: eventTimeOf(oldFields) };
  }
  const yielded = extraction.read(old, now)?.members ?? null;
  const kept = isObject(oldFields) && yielded !== null ? without(oldFields, yielded) : oldFields;
  const { text, eventTime } = extraction.fieldsOf({ ...meta, data }, kept, now);
  return { ...meta, data, fields: text, eventTime };
}

/** Drops members still equal to what the old data yielded. */
function without(
  fields: Record<string, unknown>,
  yielded: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) =>
        !Object.hasOwn(yielded, name) || exactJson(yielded[name]) !== exactJson(value),
    ),
  );
}

function notFound(): WriterAnswer {
  return detail(404, 'No Event matches the given query.');
}

/** `index`: the one that may not be written, for the audit. */
function forbidden(index: string): WriterAnswer {
  const answer = detail(403, 'You do not have permission to perform this action.');
  return { ...answer, indexes: [index] };
}

function detail(status: number, text: string): WriterAnswer {
  return {
    ...EMPTY_ANSWER,
    status,
    headers: JSON_HEADERS,
    body: JSON.stringify({ detail: text }),
    problem: text,
  };
}

function invalid(errors: FieldErrors): WriterAnswer {
  return {
    ...EMPTY_ANSWER,
    status: 400,
    headers: JSON_HEADERS,
    body: JSON.stringify(errors),
    problem: 'Invalid event',
  };
}
