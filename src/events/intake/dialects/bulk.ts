/**
 * Elasticsearch `_bulk`: an action line, then a document line.
 */
import { cutMicros, parseTime } from '../../event-time.ts';
import type {
  Dialect,
  Entry,
  EntryProblem,
  IntakeAnswer,
  IntakeOrder,
  IntakeTools,
  Stored,
} from '../intake.ts';
import { answerWith, IntakeRefusal } from '../intake.ts';
import { isObject, JsonParseError, parseEntry } from '../json-text.ts';
import { Entries, lenientText, Lines, microsText, numberOf } from '../wire/entries.ts';

/** Elasticsearch clients refuse a server that does not send it. */
export const ELASTIC_PRODUCT = { 'X-Elastic-Product': 'Elasticsearch' } as const;

const HEADERS = { 'Content-Type': 'application/json', ...ELASTIC_PRODUCT };
const ACTIONS: ReadonlySet<string> = new Set(['index', 'create', 'update', 'delete']);

export const bulk: Dialect = {
  name: 'bulk',
  read(body, order, tools) {
    const startedAt = performance.now();
    const entries = new Entries(tools, body.length, (message) =>
      refusal(413, 'content_too_long_exception', message),
    );
    const items = new BulkReader(order, entries, tools).read(body);
    return entries.reading((stored) =>
      answerOf(items, { order, stored, entries, took: performance.now() - startedAt }),
    );
  },
};

export function bulkError(status: number, type: string, reason: string): string {
  return JSON.stringify({ error: { type, reason }, status });
}

function refusal(status: number, type: string, reason: string): IntakeRefusal {
  return new IntakeRefusal(status, bulkError(status, type, reason), reason, HEADERS);
}

type Members = Readonly<Record<string, unknown>>;

interface Action {
  readonly name: string;
  /** Empty when the action names none. */
  readonly index: string;
  readonly line: number;
}

interface Item {
  readonly action: string;
  readonly index: string;
  readonly error: { readonly type: string; readonly reason: string } | null;
}

class BulkReader {
  readonly #order: IntakeOrder;
  readonly #entries: Entries;
  readonly #tools: IntakeTools;
  readonly #timeField: string;
  readonly #items: Item[] = [];
  #action: Action | null = null;
  #known: { readonly bytes: Uint8Array; readonly action: Action } | null = null;

  constructor(order: IntakeOrder, entries: Entries, tools: IntakeTools) {
    this.#order = order;
    this.#entries = entries;
    this.#tools = tools;
    this.#timeField = order.parameters['time_field'] || '@timestamp';
  }

  read(body: Uint8Array): readonly Item[] {
    const lines = new Lines(body);
    for (let bytes = lines.next(); bytes !== null; bytes = lines.next(this.#action !== null)) {
      if (this.#action !== null) this.#document(this.#action, bytes, lines.number);
      else this.#begin(bytes, lines.number);
    }
    if (this.#action !== null) {
      throw refusal(400, 'parse_exception', `line ${this.#action.line}: the document is missing`);
    }
    if (this.#items.length === 0) throw refusal(400, 'parse_exception', 'request body is required');
    return this.#items;
  }

  #begin(bytes: Uint8Array, line: number): void {
    const known = this.#known;
    const isKnown = known !== null && Buffer.compare(known.bytes, bytes) === 0;
    const action = isKnown ? { ...known.action, line } : this.#actionOf(bytes, line);
    if (!isKnown) this.#known = { bytes, action };
    this.#entries.next();
    if (action.name === 'delete') this.#refuse(action, bytes, 'delete is not supported');
    else this.#action = action;
  }

  #actionOf(bytes: Uint8Array, line: number): Action {
    const value = this.#parsed(bytes);
    const names = isObject(value) && !(value instanceof JsonParseError) ? Object.keys(value) : [];
    // Some clients note their attempts beside the action.
    const [name = '', ...others] = names.filter((one) => isObject((value as Members)[one]));
    if (!isObject(value) || others.length > 0 || !ACTIONS.has(name)) {
      throw refusal(400, 'parse_exception', `line ${line}: no action that can be read`);
    }
    const parameters = value[name];
    if (!isObject(parameters))
      throw refusal(400, 'parse_exception', `line ${line}: no action that can be read`);
    const index = parameters['_index'];
    return { name, index: typeof index === 'string' ? index : '', line };
  }

  #document(action: Action, bytes: Uint8Array, line: number): void {
    this.#action = null;
    if (action.name === 'update') {
      this.#refuse(action, bytes, 'update is not supported');
      return;
    }
    let text = '';
    const value = this.#parsed(bytes, () => (text = lenientText(bytes)));
    if (value instanceof JsonParseError || !isObject(value)) {
      const why = value instanceof JsonParseError ? value.message : 'the document is no object';
      this.#reject(action, bytes, line, why);
      return;
    }
    const entry = this.#entryOf(action, value, text);
    const problem = this.#entries.add(entry, {
      sourcetype: 'json',
      source: 'bulk',
      host: this.#order.clientAddress,
    });
    if (problem !== null) this.#reject(action, bytes, line, problem);
    else {
      const { index } = this.#entries.drafts.last!;
      this.#items.push({ action: action.name, index, error: null });
    }
  }

  #entryOf(action: Action, value: Record<string, unknown>, text: string): Entry {
    const eventTime = timeOf(value[this.#timeField]);
    const names = {
      index: action.index || this.#order.parameters['_index'] || '',
      source: textAt(value, LOG_FILE),
      host: hostOf(value),
    };
    const field = this.#order.parameters['message_field'] ?? '';
    const message = field !== '' && Object.hasOwn(value, field) ? value[field] : null;
    if (typeof message !== 'string' || message.trim() === '')
      return { ...names, data: text, json: value, eventTime };
    const { [field]: _, ...fields } = value;
    return { ...names, data: message, fields, eventTime };
  }

  /** For damaged text: the problem. */
  #parsed(bytes: Uint8Array, decode = lenientText): unknown {
    try {
      return parseEntry(bytes, decode, this.#tools.limits);
    } catch (error) {
      if (error instanceof JsonParseError) return error;
      throw error;
    }
  }

  #refuse(action: Action, bytes: Uint8Array, why: string): void {
    const reason = `line ${action.line}: ${why}`;
    this.#leaveOut(action, bytes, { type: 'illegal_argument_exception', reason });
  }

  #reject(action: Action, bytes: Uint8Array, line: number, why: string | EntryProblem): void {
    const isForbidden = typeof why !== 'string' && why.part === 'right';
    const type = isForbidden ? 'security_exception' : 'mapper_parsing_exception';
    const reason = `line ${line}: ${typeof why === 'string' ? why : why.reason}`;
    this.#leaveOut(action, bytes, { type, reason });
  }

  #leaveOut(action: Action, bytes: Uint8Array, error: { type: string; reason: string }): void {
    const index =
      action.index || this.#order.parameters['_index'] || this.#order.defaults.index || 'default';
    this.#items.push({ action: action.name, index, error });
    const sample = () => lenientText(bytes.subarray(0, 2048));
    this.#entries.reject(error.reason.split(':', 1)[0]!, error.reason, sample);
  }
}

/** RFC 3339, or null unless the value is RFC 3339 or epoch milliseconds. */
function timeOf(value: unknown): string | null {
  if (typeof value === 'string') {
    if (/^\d{1,16}$/.test(value)) return microsText(Number(value) * 1000);
    const micros = parseTime(value);
    return micros === null ? null : microsText(micros);
  }
  const ms = numberOf(value);
  return ms === null ? null : microsText(cutMicros(ms, 3));
}

function hostOf(value: Record<string, unknown>): string {
  const { host } = value;
  if (typeof host === 'string') return host;
  return textAt(value, HOST_NAME) || textAt(value, HOSTNAME);
}

interface Path {
  readonly names: readonly string[];
  readonly dotted: string;
}
const LOG_FILE = pathOf('log', 'file', 'path');
const HOST_NAME = pathOf('host', 'name');
const HOSTNAME = pathOf('host', 'hostname');

function pathOf(...names: string[]): Path {
  return { names, dotted: names.join('.') };
}

/** Names may be nested or joined by dots; empty when missing. */
function textAt(value: Record<string, unknown>, { names, dotted }: Path): string {
  let at: unknown = value;
  for (const name of names) {
    if (!isObject(at) || !Object.hasOwn(at, name)) {
      at = undefined;
      break;
    }
    at = at[name];
  }
  const found = at ?? (Object.hasOwn(value, dotted) ? value[dotted] : undefined);
  return typeof found === 'string' ? found : '';
}

function answerOf(
  items: readonly Item[],
  {
    order,
    stored,
    entries,
    took,
  }: { order: IntakeOrder; stored: Stored; entries: Entries; took: number },
): IntakeAnswer {
  let id = stored.firstId;
  const listed = items.map(({ action, index, error }) => {
    if (error !== null) {
      const status = error.type === 'security_exception' ? 403 : 400;
      return { [action]: { _index: index, status, error } };
    }
    const _id = id === null ? null : String(id++);
    return { [action]: { _index: index, _id, result: 'created', status: 201 } };
  });
  const members = { took: Math.round(took), errors: entries.rejected > 0, items: listed };
  const answer = answerWith(200, members, order, stored);
  return { ...answer, headers: HEADERS };
}
