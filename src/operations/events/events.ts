import type { App } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { grantsCoverEvents } from '../../accounts/rights/permissions.ts';
import { AppError } from '../../base/errors.ts';
import type { Sender } from '../../events/intake/counters.ts';
import type { EventRow } from '../../events/event.ts';
import type { FieldSummary } from '../../events/read/field-summary.ts';
import type { Histogram } from '../../events/read/histogram.ts';
import type { QueuePlace } from '../../events/intake/queue-room.ts';
import { throttled } from '../../events/intake/queue-room.ts';
import type { LineExplanation } from '../../events/intake/explanation.ts';
import type { RejectReason } from '../../events/intake/ingest-totals.ts';
import type { MetaDefaults } from '../../events/intake/intake.ts';
import type { ListOrder } from '../../events/read/read-jobs.ts';
import { timeText } from '../../events/event-time.ts';
import type { FilterQuery } from '../../events/read/query-filter.ts';
import { QUERY_PROBLEM_HEADER } from '../../events/read/query-filter.ts';
import type { Selection } from '../../events/read/selection.ts';
import { ALL_EVENTS } from '../../events/read/selection.ts';
import type { Pieces, WriterResult } from '../../events/store/writer-orders.ts';
import { lengthOf } from '../../events/store/writer-orders.ts';
import { type Origin, record } from '../access.ts';
import {
  auditDenial,
  eventGrants,
  NO_EVENT_PERMISSION,
  readableIndexes,
  requireEventRight,
} from './event-access.ts';
import { ingestSettingsOf } from './ingest-settings.ts';

interface IntakeRequest {
  readonly dialect: string;
  readonly mode: string;
  readonly mediaType: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Pieces;
  /** Estimated number of events, for the queue. */
  readonly events: number;
  /** Holds the body in the queue; made when absent. */
  readonly place?: QueuePlace;
  readonly isDryRun: boolean;
  readonly isMinimal: boolean;
  /** Whose counters are increased; the caller's credential when absent. */
  readonly sender?: Sender;
  /** The key, and the route it counts for. */
  readonly idempotency: { readonly route: string; readonly key: string } | null;
}

export interface WriterReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

/**
 * Call before the body is read: checks that the caller may send events at all, and counts the request against its
 * rate. Throws `permission-denied`, `throttled`.
 */
export async function admitIntake(
  services: App,
  caller: Principal,
  origin: Origin,
  dialect: string,
): Promise<void> {
  await requireEventRight(services, caller, origin, 'write');
  const wait = services.rates.ingest.take(caller.userId, services.config.events.throttle.ingest);
  if (wait === 0) return;
  const error = throttled(wait);
  services.ingestCounters.noteRefusal(senderOf(caller), dialect, error.message, 'throttled');
  throw error;
}

/**
 * A place in the queue before the writer, filled while the body arrives; the caller must leave it. Throws
 * `unavailable` when no events are accepted now.
 */
export function queuePlace({ events }: App, caller: Principal): QueuePlace {
  return events.ingest.place(holderOf(senderOf(caller)));
}

/** For a request refused because of its body, before the writer saw it. */
export function noteRefusedIntake(
  services: App,
  caller: Principal,
  dialect: string,
  error: AppError,
): void {
  services.ingestCounters.noteRefusal(senderOf(caller), dialect, error.message, reasonOf(error));
}

function reasonOf({ status }: AppError): RejectReason {
  if (status === 429) return 'throttled';
  if (status === 413) return 'too_large';
  return status === 503 ? 'unavailable' : 'invalid';
}

export function isAcceptingEvents({ events }: App): boolean {
  return events.ingest.isAccepting;
}

/**
 * What is answered is on disk. Throws `permission-denied`, `throttled`, `unavailable`; errors in the body are in the
 * answer.
 */
export async function ingestEvents(
  services: App,
  caller: Principal,
  origin: Origin,
  request: IntakeRequest,
): Promise<WriterReply> {
  const grants = await requireEventRight(services, caller, origin, 'write');
  const settings = await ingestSettingsOf(services, caller);
  const { dialect, mode, mediaType, parameters, headers, isDryRun, isMinimal, idempotency } =
    request;
  const sender = request.sender ?? senderOf(caller);
  const holder = holderOf(sender);
  const order = {
    kind: 'intake' as const,
    dialect,
    mode,
    mediaType,
    parameters,
    headers,
    userId: caller.userId,
    sender: holder,
    acknowledges: settings.acknowledges,
    grants,
    indexes: settings.indexes,
    defaults: { ...settings.defaults, ...defaultsIn(parameters) },
    clientAddress: origin.clientAddress ?? '',
    isDryRun,
    isMinimal,
    idempotency,
  };
  const place = { events: request.events, name: holder, place: request.place ?? null };
  const written = services.events.ingest.submit(order, request.body, place);
  const { result, body } = await written.catch((error: unknown) => {
    if (error instanceof AppError)
      services.ingestCounters.noteRefusal(sender, dialect, error.message, reasonOf(error));
    throw error;
  });
  const bytes = lengthOf(request.body);
  if (!isDryRun) services.ingestCounters.noteResult(sender, dialect, bytes, result);
  if (result.status === 403)
    await auditDenial(services, caller, origin, { verb: 'write', index: null });
  // The route writes the refusal when the writer gave no body.
  if (result.status === 403 && body === null)
    throw new AppError('permission-denied', NO_EVENT_PERMISSION);
  return { status: result.status, headers: result.headers, body };
}

/** What would be found in lines; nothing is stored. Throws `permission-denied`, `unavailable`. */
export async function explainEvents(
  services: App,
  caller: Principal,
  origin: Origin,
  { lines, sourcetype }: { readonly lines: string; readonly sourcetype: string },
): Promise<LineExplanation[]> {
  const { body } = await ingestEvents(services, caller, origin, {
    dialect: 'explain',
    mode: '',
    mediaType: 'text/plain',
    parameters: sourcetype === '' ? {} : { sourcetype },
    headers: {},
    body: [Buffer.from(lines)],
    events: 1,
    isDryRun: true,
    isMinimal: false,
    idempotency: null,
  });
  return (await new Response(body).json()) as LineExplanation[];
}

/**
 * Which of the numbers were issued on a HEC channel of the caller; issued numbers are on disk. Throws
 * `permission-denied`, and `bad-request` for a key without acknowledgement.
 */
export async function acknowledgedOf(
  services: App,
  caller: Principal,
  origin: Origin,
  request: { readonly channel: string; readonly ids: readonly number[] },
): Promise<Record<string, boolean>> {
  await requireEventRight(services, caller, origin, 'write');
  const { acknowledges } = await ingestSettingsOf(services, caller);
  if (!acknowledges) throw new AppError('bad-request', 'ACK is disabled');
  await services.events.open();
  const next = services.events.nextAck(holderOf(senderOf(caller)), request.channel);
  return Object.fromEntries(request.ids.map((ack) => [String(ack), ack >= 0 && ack < next]));
}

function defaultsIn(parameters: Readonly<Record<string, string>>): MetaDefaults {
  const defaults: Record<string, string> = {};
  for (const name of ['index', 'sourcetype', 'source', 'host']) {
    const value = parameters[name]?.trim();
    if (value !== undefined && value !== '') defaults[name] = value;
  }
  return defaults;
}

function holderOf({ kind, id }: Sender): string {
  return `${kind} ${id}`;
}

/** A key that is gone, the first run and handlers send as the user. */
const SENDERS = {
  session: 'session',
  'api-key': 'session',
  setup: 'session',
  'handler-call': 'bearer',
  basic: 'basic',
  token: 'token',
  bearer: 'bearer',
} as const satisfies Record<Exclude<Principal['credential'], 'link'>, Sender['kind']>;

function senderOf(caller: Principal): Sender {
  const { username: label } = caller;
  if (caller.apiKeyId !== null) return { kind: 'api_key', id: String(caller.apiKeyId), label };
  // No link writes events.
  const credential = caller.credential === 'link' ? 'session' : caller.credential;
  return { kind: SENDERS[credential], id: String(caller.userId), label };
}

/** Throws `permission-denied`, and `not-found` for an event the caller may not read. */
export async function getEvent(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<EventRow> {
  const grants = await requireEventRight(services, caller, origin, 'read');
  await services.events.open();
  const event = await services.events.get(id);
  if (event === null || !grantsCoverEvents(grants, event.index, 'read')) throw noEvent();
  return event;
}

interface ListedEvents {
  readonly answer: Response;
  /** Whether the caller may still read every index that could be read when the list began; asked during long bodies. */
  readonly mayStillRead: () => Promise<boolean>;
}

/** In the order of their ids; see `ListOrder`. Throws `permission-denied`, `unavailable`. */
export async function listEvents(
  services: App,
  caller: Principal,
  origin: Origin,
  request: {
    readonly order: Omit<ListOrder, 'stateDir'>;
    readonly signal: AbortSignal;
    /** An export, for which nobody waits as for a page. */
    readonly isLong?: boolean;
  },
): Promise<ListedEvents> {
  const selection = await readable(services, caller, origin, request.order.selection);
  const order = { ...request.order, selection };
  return {
    answer: await services.events.request('events-list', order, request.signal, request.isLong),
    mayStillRead: async () => {
      const grants = await eventGrants(services, caller);
      const now = readableIndexes(services, grants);
      if (now === null || selection.readable === null) return now === null;
      return selection.readable.every((index) => grantsCoverEvents(grants, index, 'read'));
    },
  };
}

/** Throws `permission-denied`, `throttled` when too many of the caller's searches run, `unavailable`. */
export async function countEvents(
  services: App,
  caller: Principal,
  origin: Origin,
  request: {
    readonly selection: Selection;
    readonly interval: string;
    readonly timezone: string;
    readonly by: string | null;
    readonly query: string | null;
    readonly limit: number;
    readonly signal: AbortSignal;
  },
): Promise<Histogram | QueryFault> {
  const { signal, ...order } = request;
  const selection = await readable(services, caller, origin, order.selection);
  const budgetMs = services.config.events.explore_seconds * 1000;
  const asked = filterQuery(services, order.query);
  const query = asked && { ...asked, timezone: order.timezone };
  return inTurn<Histogram>(services, caller, signal, () =>
    services.events.request('events-histogram', { ...order, selection, budgetMs, query }, signal),
  );
}

/** Throws as `countEvents`. */
export async function describeFields(
  services: App,
  caller: Principal,
  origin: Origin,
  request: {
    readonly selection: Selection;
    readonly timezone: string;
    readonly top: number;
    readonly query: string | null;
    readonly sample: number;
    readonly signal: AbortSignal;
  },
): Promise<FieldSummary | QueryFault> {
  const { signal, timezone, ...order } = request;
  const selection = await readable(services, caller, origin, order.selection);
  const budgetMs = services.config.events.explore_seconds * 1000;
  const asked = filterQuery(services, order.query);
  const query = asked && { ...asked, timezone };
  return inTurn<FieldSummary>(services, caller, signal, () =>
    services.events.request('events-fields', { ...order, selection, budgetMs, query }, signal),
  );
}

interface QueryFault {
  readonly fault: object;
}

async function inTurn<Answer>(
  { searches }: App,
  { userId }: Principal,
  signal: AbortSignal,
  work: () => Promise<Response>,
): Promise<Answer | QueryFault> {
  const leave = await searches.enter(userId, signal);
  try {
    return await answerOf<Answer>(await work());
  } finally {
    leave();
  }
}

async function answerOf<Answer>(response: Response): Promise<Answer | QueryFault> {
  const body = (await response.json()) as Answer;
  return response.headers.has(QUERY_PROBLEM_HEADER) ? { fault: body as object } : body;
}

export function filterQuery(services: App, text: string | null): FilterQuery | null {
  if (text === null || /^[\s|]*$/.test(text)) return null;
  const { search } = services.config.events;
  return {
    text,
    now: timeText(services.clock.now() * 1000),
    implicitTerms: search.implicit_terms,
    timeoutMs: search.timeout_seconds * 1000,
    memoryBytes: search.memory_bytes,
  };
}

/** Null for no fault; reads no events. */
export async function faultOfQuery(services: App, query: FilterQuery): Promise<object | null> {
  const order = { selection: ALL_EVENTS, query, aboveId: 0, highestId: 0, most: 0 };
  const response = await services.events.request('events-matching', order);
  if (response.headers.has(QUERY_PROBLEM_HEADER)) return (await response.json()) as object;
  await response.body?.cancel();
  return null;
}

async function readable(
  services: App,
  caller: Principal,
  origin: Origin,
  selection: Selection,
): Promise<Selection> {
  const grants = await requireEventRight(services, caller, origin, 'read');
  await services.events.open();
  return { ...selection, readable: readableIndexes(services, grants) };
}

/** Audited. The answer says what was wrong. Throws `permission-denied`, `unavailable`. */
export async function updateEvent(
  services: App,
  caller: Principal,
  origin: Origin,
  request: {
    readonly id: number;
    readonly isPartial: boolean;
    readonly isForm: boolean;
    readonly ifMatch: string | null;
    readonly body: Pieces;
    readonly place: QueuePlace;
  },
): Promise<WriterReply> {
  const { body, place, ...rest } = request;
  return change(services, caller, origin, { kind: 'update', ...rest }, { body, place });
}

/** Audited. Throws as `updateEvent`. */
export async function deleteEvent(
  services: App,
  caller: Principal,
  origin: Origin,
  request: { readonly id: number; readonly ifMatch: string | null },
): Promise<WriterReply> {
  return change(
    services,
    caller,
    origin,
    { kind: 'delete', ...request },
    { body: [], place: null },
  );
}

async function change(
  services: App,
  caller: Principal,
  origin: Origin,
  order:
    | { kind: 'update'; id: number; isPartial: boolean; isForm: boolean; ifMatch: string | null }
    | { kind: 'delete'; id: number; ifMatch: string | null },
  { body, place }: { readonly body: Pieces; readonly place: QueuePlace | null },
): Promise<WriterReply> {
  const grants = await requireEventRight(services, caller, origin, 'write');
  const { indexes } = await ingestSettingsOf(services, caller);
  const name = holderOf(senderOf(caller));
  const { result, body: answer } = await services.events.ingest.submit(
    { ...order, grants, indexes },
    body,
    { events: 1, name, place },
  );
  await auditChange(services, caller, origin, order, result);
  return { status: result.status, headers: result.headers, body: answer };
}

async function auditChange(
  services: App,
  caller: Principal,
  origin: Origin,
  { kind, id }: { readonly kind: 'update' | 'delete'; readonly id: number },
  { status, indexes }: WriterResult,
): Promise<void> {
  const [index] = indexes;
  if (index === undefined) return;
  if (status === 403) {
    await auditDenial(services, caller, origin, { verb: 'write', index });
    return;
  }
  await record(
    services,
    { user: caller, origin },
    `${kind}_event`,
    `@events/${index}`,
    `${kind === 'update' ? 'Updated' : 'Deleted'} event ${id}`,
  );
}

function noEvent(): AppError {
  return new AppError('not-found', 'No Event matches the given query.');
}
