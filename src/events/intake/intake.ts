/**
 * The interface between the routes that accept events and the writer.
 *
 * A dialect reads a request body into entries and makes the answer once they are stored; everything between (rights,
 * limits, extraction, the shared transaction, repeats) is common. Dialects run in the writer's process, because
 * reading a body may take long. To add one: a file in dialects/ and a line in its index.
 */
import type { Grants } from '../../accounts/rights/permissions.ts';
import { grantsCoverEvents } from '../../accounts/rights/permissions.ts';
import type { SpoolFile } from '../../base/files/spool-file.ts';
import type { EventDraft } from '../event.ts';
import { explainLines, type LineExplanation } from './explanation.ts';
import type { Extracted, Extraction, Line } from './extract/extraction.ts';
import type { Drafts } from './drafts.ts';
import { JsonNumber } from '../../base/json/json.ts';
import { exactJson, isObject, MAX_EVENT_VALUES } from './json-text.ts';
import { parseTime } from '../event-time.ts';

/** The order is part of the API. */
export const META_NAMES = ['index', 'sourcetype', 'source', 'host'] as const;
export type MetaName = (typeof META_NAMES)[number];
export type MetaDefaults = Readonly<Partial<Record<MetaName, string>>>;

export interface IntakeLimits {
  /** Of a body that is decompressed while it is read. */
  readonly maxDecodedBytes: number;
  readonly maxEventBytes: number;
  readonly maxEvents: number;
  readonly maxDepth: number;
  readonly maxFields: number;
}

/** Crosses to the writer as plain JSON. */
export interface IntakeOrder {
  readonly kind: 'intake';
  readonly dialect: string;
  /** Distinguishes routes of one dialect, such as `raw`; may be empty. */
  readonly mode: string;
  /** Lower case, without parameters. */
  readonly mediaType: string;
  /** The last of repeated ones. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly userId: number;
  /** Identifies the credential; stable across restarts. */
  readonly sender: string;
  /** HEC indexer acknowledgement. */
  readonly acknowledges: boolean;
  readonly grants: Grants;
  /** Limit of the credential; null: rights alone decide. */
  readonly indexes: readonly string[] | null;
  /** Query parameters first, then the credential. */
  readonly defaults: MetaDefaults;
  readonly clientAddress: string;
  readonly isDryRun: boolean;
  /** `Prefer: return=minimal`. */
  readonly isMinimal: boolean;
  /** Null: a repeat is stored again. */
  readonly idempotency: { readonly route: string; readonly key: string } | null;
}

export interface IntakeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;
}

/** Texts one after another when they may be too many for memory. */
export type AnswerBody = string | Uint8Array | Iterable<string> | null;

export class Rejection {
  constructor(
    readonly position: string,
    /** Also shown in `GET /admin/ingest/rejects`. */
    readonly reason: string,
    readonly sample: string,
    /** For the dialect's answer. */
    readonly details: unknown = null,
  ) {}
}

/** Refuses the whole request: nothing is stored. `body` has the dialect's shape. */
export class IntakeRefusal extends Error {
  constructor(
    readonly status: number,
    readonly body: string | Uint8Array,
    readonly reason: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(reason);
    this.name = 'IntakeRefusal';
  }
}

export interface Stored {
  /** Ids are consecutive; null for a dry run and when nothing was stored. */
  readonly firstId: number | null;
  readonly count: number;
  /** Null when the reading names no channel. */
  readonly ackId: number | null;
  /** The first `limit` events as JSON, in order. */
  events(limit: number): string[];
  /** All as one JSON array, in texts; cheaper than `events` for many. */
  array(): Iterable<string>;
}

export interface Reading {
  readonly drafts: Drafts;
  /** Only as many as the answer and the rejects view need. */
  readonly rejections: readonly Rejection[];
  readonly rejected: number;
  /** The answer carries an acknowledgement number of this channel. */
  readonly channel?: string | null;
  /** Called once the drafts are on disk, or for a dry run. */
  answer(stored: Stored): IntakeAnswer;
}

export interface Dialect {
  readonly name: string;
  /** Throws `IntakeRefusal` when the whole request is unusable. */
  read(body: Uint8Array, order: IntakeOrder, tools: IntakeTools): Reading;
}

export interface Entry {
  readonly index?: string | undefined;
  readonly sourcetype?: string | undefined;
  readonly source?: string | undefined;
  readonly host?: string | undefined;
  readonly data: string;
  /** Extracted members override these in `extracted_fields`. */
  readonly fields?: unknown;
  /** `data` already parsed as JSON; `fields` then contains no numbers. */
  readonly json?: unknown;
  /** RFC 3339; becomes `extracted_fields.event_time`. */
  readonly eventTime?: string | null;
}

export class EntryProblem {
  constructor(
    /** `right`: the caller may not write that index. */
    readonly part: 'right' | 'meta' | 'data' | 'fields',
    readonly reason: string,
  ) {}
}

const MAX_META_CHARACTERS = 255;
const DRY_RUN_EVENTS = 10;
const MAX_KEY_CHARACTERS = 255;

export class IntakeTools {
  readonly limits: IntakeLimits;
  /** Microseconds, fixed for a request. */
  readonly now: number;
  /** Those of the request. */
  readonly drafts: Drafts;
  /** For what does not fit into memory; it goes with the request. */
  readonly newFile: () => SpoolFile;
  readonly #extraction: Extraction;
  readonly #mayWrite = new Map<string, boolean>();
  readonly #order: IntakeOrder;

  constructor(
    order: IntakeOrder,
    options: {
      limits: IntakeLimits;
      extraction: Extraction;
      now: number;
      drafts: Drafts;
      newFile: () => SpoolFile;
    },
  ) {
    this.#order = order;
    this.limits = options.limits;
    this.now = options.now;
    this.drafts = options.drafts;
    this.newFile = options.newFile;
    this.#extraction = options.extraction;
  }

  mayWrite(index: string): boolean {
    let may = this.#mayWrite.get(index);
    if (may === undefined) {
      const { grants, indexes } = this.#order;
      may =
        grantsCoverEvents(grants, index, 'write') && (indexes === null || indexes.includes(index));
      this.#mayWrite.set(index, may);
    }
    return may;
  }

  fieldsOf(line: Line, client: unknown): Extracted {
    return this.#extraction.fieldsOf(line, client, this.now);
  }

  explain(text: string, sourcetype: string): LineExplanation[] {
    return explainLines(this.#extraction, text, { sourcetype, now: this.now });
  }

  /**
   * Checks rights, sizes and characters. Members the entry lacks come from the request, the credential, then
   * `dialectDefaults`.
   */
  draft(entry: Entry, dialectDefaults: MetaDefaults): EventDraft | EntryProblem {
    const meta = {} as Record<MetaName, string>;
    for (const name of META_NAMES) {
      const value = cleaned(
        entry[name] || this.#order.defaults[name] || dialectDefaults[name] || 'default',
      );
      if (characters(value) > MAX_META_CHARACTERS) {
        return new EntryProblem('meta', `${name} has more than ${MAX_META_CHARACTERS} characters`);
      }
      meta[name] = value;
    }
    if (!this.mayWrite(meta.index)) {
      return new EntryProblem('right', `index '${meta.index}' is not permitted`);
    }
    const data = withoutLineEnd(cleaned(entry.data));
    const { maxEventBytes } = this.limits;
    if (data.length * 3 > maxEventBytes && Buffer.byteLength(data) > maxEventBytes) {
      return new EntryProblem('data', `data has more than ${maxEventBytes} bytes`);
    }
    const fields = withEventTime(entry);
    if (entry.fields !== undefined) {
      const problem = fieldsProblem(fields, this.limits);
      if (problem !== null) return new EntryProblem('fields', `extracted_fields: ${problem}`);
    }
    const { json } = entry;
    const { text, eventTime, host } = this.fieldsOf({ ...meta, data, json }, fields);
    const given = (): number | null =>
      typeof entry.eventTime === 'string' ? parseTime(entry.eventTime) : null;
    // What the data says counts before what the dialect supposes.
    if (host !== null && !entry.host && !this.#order.defaults.host) meta.host = host;
    return { ...meta, data, fields: text, eventTime: eventTime ?? given() };
  }
}

/** Adds the members of a dry run if it is one. */
export function answerWith(
  status: number,
  members: Readonly<Record<string, unknown>>,
  order: IntakeOrder,
  stored: Stored,
): IntakeAnswer {
  const headers = { 'Content-Type': 'application/json' };
  const text = JSON.stringify(members);
  if (!order.isDryRun) return { status, headers, body: text };
  const events = `"dry_run":[${stored.events(DRY_RUN_EVENTS).join(',')}]}`;
  return { status, headers, body: text === '{}' ? `{${events}` : `${text.slice(0, -1)},${events}` };
}

/** Removes only trailing line feeds and carriage returns. */
function withoutLineEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text.charCodeAt(end - 1) === 0x0a || text.charCodeAt(end - 1) === 0x0d))
    end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

function withEventTime({ fields, eventTime }: Entry): unknown {
  if (eventTime === undefined || eventTime === null) return fields;
  return { ...(isObject(fields) ? fields : {}), event_time: eventTime };
}

/** Returns the API's error text; null when valid. */
export function fieldsProblem(fields: unknown, limits: IntakeLimits): string | null {
  if (isObject(fields)) {
    const names = Object.keys(fields);
    if (names.length > limits.maxFields) {
      return `Ensure this field has no more than ${limits.maxFields} members.`;
    }
    if (
      names.some(
        (name) => name.length > MAX_KEY_CHARACTERS && characters(name) > MAX_KEY_CHARACTERS,
      )
    ) {
      return `Ensure this field has keys of no more than ${MAX_KEY_CHARACTERS} characters.`;
    }
    if (names.length === 0) return null;
  }
  if (fields === null || typeof fields === 'number' || typeof fields === 'boolean') return null;
  const bytes = Buffer.byteLength(exactJson(fields));
  if (bytes > limits.maxEventBytes)
    return `Ensure this field has no more than ${limits.maxEventBytes} bytes.`;
  // Shorter texts cannot hold so many.
  return bytes > 2 * MAX_EVENT_VALUES && valuesIn(fields) > MAX_EVENT_VALUES
    ? `Ensure this field has no more than ${MAX_EVENT_VALUES} values.`
    : null;
}

function valuesIn(value: unknown): number {
  let count = 1;
  if (typeof value === 'object' && value !== null && !(value instanceof JsonNumber))
    for (const member of Object.values(value)) count += valuesIn(member);
  return count;
}

/** Code points; UTF-16 units for lengths that are clearly within or over the limit. */
export function characters(text: string): number {
  if (text.length <= MAX_META_CHARACTERS || text.length > 4 * MAX_META_CHARACTERS)
    return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Not every system can store NUL in text. */
function cleaned(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
