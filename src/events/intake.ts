/**
 * The interface between a door that accepts events and the writer (EV-36, EV-52, EV-59).
 *
 * A dialect reads the body of a request into entries and says the answer once they are stored; everything between
 * (rights, limits, extraction, the shared transaction, repeats) is the same for all. Dialects run in the writer's
 * process, never in the server's: a body may take long to read. To add one: a file in dialects/ and a line in its list.
 */
import type { Grants } from '../auth/permissions.ts';
import { grantsCoverEvents } from '../auth/permissions.ts';
import type { EventDraft } from './event.ts';
import type { Extraction } from './extract/extraction.ts';
import { exactJson, isObject } from './json-text.ts';
import { parseTime } from './event-time.ts';

/** The four classification members, in the order of EV-27. */
export const META_NAMES = ['index', 'sourcetype', 'source', 'host'] as const;
/** One of them. */
export type MetaName = (typeof META_NAMES)[number];
/** Values for those that an entry does not name. */
export type MetaDefaults = Readonly<Partial<Record<MetaName, string>>>;

/** Sizes an event and a request may have (EV-52); `Config['events']['limits']` without the sizes of bodies. */
export interface IntakeLimits {
  /** Of a body that is decompressed while it is read. */
  readonly maxDecodedBytes: number;
  readonly maxEventBytes: number;
  readonly maxEvents: number;
  readonly maxDepth: number;
  readonly maxFields: number;
}

/** A request of an accepting route, as it crosses to the writer: plain JSON. */
export interface IntakeOrder {
  readonly kind: 'intake';
  /** Name of the dialect that reads the body. */
  readonly dialect: string;
  /** What the dialect tells its routes apart by, such as `raw`; `''` otherwise. */
  readonly mode: string;
  /** In lower case, without parameters. */
  readonly mediaType: string;
  /** Query parameters by name, the last of repeated ones. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Request headers the dialect asked for, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly userId: number;
  /** The credential, for what is kept for each of them; the same over restarts. */
  readonly sender: string;
  /** Whether requests on a channel are acknowledged (EV-69). */
  readonly acknowledges: boolean;
  readonly grants: Grants;
  /** Indexes the credential is limited to (EV-58); null: none but the rights. */
  readonly indexes: readonly string[] | null;
  /** From query parameters, then from the credential (EV-59). */
  readonly defaults: MetaDefaults;
  readonly clientAddress: string;
  readonly isDryRun: boolean;
  /** `Prefer: return=minimal`. */
  readonly isMinimal: boolean;
  /** Null: a repeat is stored again. */
  readonly idempotency: { readonly route: string; readonly key: string } | null;
}

/** What goes back to the client. */
export interface IntakeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** An entry that is not stored, and why. */
export class Rejection {
  constructor(
    /** Where it stood: a line, an index. */
    readonly position: string,
    /** For people, and for `GET /admin/ingest/rejects`. */
    readonly reason: string,
    /** The entry or its start. */
    readonly sample: string,
    /** What the dialect needs for its answer. */
    readonly details: unknown = null,
  ) {}
}

/** The whole request is refused: nothing of it is stored. `body` is the answer in the shape of the dialect. */
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

/** Where the drafts of a reading stand now. */
export interface Stored {
  /** The first id, the others follow; null for a dry run and when nothing was stored. */
  readonly firstId: number | null;
  /** How many. */
  readonly count: number;
  /** Of the channel the reading named; null without one. */
  readonly ackId: number | null;
  /** The events as JSON texts, in order, the first `limit` of them; costs reading or writing each. */
  events(limit?: number): string[];
  /** All of them as one JSON array; for many this is the cheaper way. */
  array(): string;
}

/** What a dialect made of a body. */
export interface Reading {
  /** Events to be stored, in order. */
  readonly drafts: readonly EventDraft[];
  /** Entries left out; at most those the answer and the rejects view need. */
  readonly rejections: readonly Rejection[];
  /** All entries left out. */
  readonly rejected: number;
  /** The answer acknowledges the request by a number of this channel (EV-69). */
  readonly channel?: string | null;
  /** The answer, once the drafts are on disk. A dry run asks the same. */
  answer(stored: Stored): IntakeAnswer;
}

/** A way to write events into a request body. */
export interface Dialect {
  /** As in metrics and counters. */
  readonly name: string;
  /** Throws `IntakeRefusal` when the whole request is unusable. */
  read(body: Uint8Array, order: IntakeOrder, tools: IntakeTools): Reading;
}

/** An entry of a per-entry dialect before it is checked. */
export interface Entry {
  readonly index?: string | undefined;
  readonly sourcetype?: string | undefined;
  readonly source?: string | undefined;
  readonly host?: string | undefined;
  readonly data: string;
  /** Becomes `extracted_fields`, below what extraction finds. */
  readonly fields?: unknown;
  /** The value of `data`, when it is JSON and was read already; `fields` then hold no numbers. */
  readonly json?: unknown;
  /** EV-2 text; becomes `extracted_fields.event_time`. */
  readonly eventTime?: string | null;
}

/** Why an entry is no event. */
export class EntryProblem {
  constructor(
    /** The part at fault; `right`: the caller may not write that index. */
    readonly part: 'right' | 'meta' | 'data' | 'fields',
    readonly reason: string,
  ) {}
}

const MAX_META_CHARACTERS = 255;
const DRY_RUN_EVENTS = 10;
const MAX_KEY_CHARACTERS = 255;

/** What the writer gives to a dialect. */
export class IntakeTools {
  readonly limits: IntakeLimits;
  /** Microseconds; one moment for a request. */
  readonly now: number;
  readonly #extraction: Extraction;
  readonly #mayWrite = new Map<string, boolean>();
  readonly #order: IntakeOrder;

  constructor(
    order: IntakeOrder,
    options: { limits: IntakeLimits; extraction: Extraction; now: number },
  ) {
    this.#order = order;
    this.limits = options.limits;
    this.now = options.now;
    this.#extraction = options.extraction;
  }

  /** Whether the caller may store events in the index. */
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

  /** `extracted_fields` of an event after extraction (EV-40). */
  fieldsOf(
    sourcetype: string,
    data: string,
    client: unknown,
    json?: unknown,
  ): { text: string; eventTime: number | null } {
    return this.#extraction.fieldsOf(sourcetype, data, client, this.now, json);
  }

  /**
   * The event of an entry, or why it is none: rights, sizes and characters by EV-52 and EV-62, the values of request and
   * credential, then `dialectDefaults`, where the entry names none.
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
    const { text, eventTime } = this.fieldsOf(meta.sourcetype, data, fields, entry.json);
    const given = (): number | null =>
      typeof entry.eventTime === 'string' ? parseTime(entry.eventTime) : null;
    return { ...meta, data, fields: text, eventTime: eventTime ?? given() };
  }
}

/** An answer with the members, and what a dry run adds to it (EV-38). */
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

/** Only the line feeds and carriage returns at the end go (EV-62). */
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

/** What is wrong with the size of an `extracted_fields` value, in the words of EV-52; null for nothing. */
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
  return Buffer.byteLength(exactJson(fields)) > limits.maxEventBytes
    ? `Ensure this field has no more than ${limits.maxEventBytes} bytes.`
    : null;
}

/** Code points of a text. */
export function characters(text: string): number {
  if (text.length <= MAX_META_CHARACTERS) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** NUL cannot be stored as text everywhere (EV-62). */
function cleaned(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
