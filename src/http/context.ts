/**
 * One request, as handlers see it: who asks, what for, and how to read the rest.
 *
 * When a handler runs, the caller is known and allowed to use the route, CSRF is checked, the body is unread. A handler
 * reads its input, calls an operation, and answers a `Reply`; what it throws becomes an error answer:
 *
 *     new Elysia({ name: 'rows', prefix: '/api/rows' }).use(lifecycle).put('/:row_id', async ({ ask }) => {
 *       const id = ask.intParameter('row_id');
 *       const body = await ask.json();                           // 413, 422 by itself
 *       const row = await renameRow(ask.services, ask.user, ask.origin, id, body);
 *       return jsonReply(row, { etag: row.version });
 *     }, { checks: { access: 'user' } });
 */
import type { Principal, Caller } from '../accounts/rights/principal.ts';
import { notAuthenticated } from '../accounts/identity/refusal.ts';
import { type AppError, invalidRequest } from '../base/errors.ts';
import type { Origin } from '../operations/access.ts';
import { type CookieName, cookieValue, setCookieHeader } from './hooks/cookies.ts';
import type { Peer } from './hooks/client-address.ts';
import { isForm, isJsonInDisguise, parseForm } from './body/form-body.ts';
import { JSON_BOUNDS } from '../base/json/json-outline.ts';
import { type BodyRoom, bodyMemory } from './body/body-room.ts';
import type { IdleLimit, SlowAnswers } from './reply/idle-limit.ts';
import { parseJsonBody } from './body/json-body.ts';
import { linkQuery } from './link-query.ts';
import { isHtmlClient, isNotModified } from './reply/negotiate.ts';
import { RequestBody } from './body/request-body.ts';
import type { RequestTarget } from './hooks/request-target.ts';
import type { Cors } from './hooks/cors.ts';
import type { HostCheck } from './hooks/host-check.ts';
import type { Answer, Reply } from './reply/reply.ts';
import { PRIVATE } from './reply/headers.ts';
import type { Responder } from './reply/respond.ts';
import type {
  FailureBodies,
  OperationDescription,
  RouteMethod,
  Viewer,
} from './operation-description.ts';
import type { App } from '../app.ts';
import type { Family, ResourceType } from '../docroot/kind.ts';
import type { FirstRun } from '../operations/accounts/setup.ts';
import type { ResourceFacts } from '../operations/files/resources.ts';
import type { ReplyKey } from '../store/kept-replies.ts';
import type { Metrics } from './metrics.ts';

/** Bodies without a credential: a sign-in, a message to `/mcp`. */
export const MAX_ANONYMOUS_BYTES = 64 * 1024;
const MAX_ANONYMOUS_VALUES = 1_000;
/** JSON bodies of routes that say nothing else. */
export const MAX_JSON_BYTES = 1024 * 1024;

const NO_COOKIES: readonly string[] = [];

/** Answers a request that was let in. What it throws becomes an error answer. */
export type Handler = (context: Context) => Answer | Promise<Answer>;

/** What a body may be that is read as a whole; events and uploads have limits of their own. */
export interface BodyLimits {
  /** MAX_JSON_BYTES when missing; never more than `limits.max_body_bytes`, and MAX_ANONYMOUS_BYTES without a credential. */
  readonly maxBytes?: number;
  /** Values of JSON; those of JSON_BOUNDS when missing. */
  readonly maxValues?: number;
}

/** What is checked before a route, and how its answers and failures look. Those of the first method hold for the path. */
export interface RouteRules {
  /** Who is let in: everybody, signed-in users, superusers. Finer rights are the operation's business. */
  readonly access: 'public' | 'user' | 'superuser';
  readonly body?: BodyLimits;
  /** Parameters are digits only; a path with another text is looked up among the files. */
  readonly hasNumbers?: boolean;
  /** Name of what stands for `*`. */
  readonly rest?: string;
  /** The contract writes the path with a trailing slash, so the OpenAPI document does too. */
  readonly endsInSlash?: boolean;
  /** Who finds the route in the OpenAPI document; by `access` unless said otherwise. */
  readonly isListedFor?: (viewer: Viewer) => boolean;
  /** Unsafe methods that still work in read-only mode. */
  readonly isExemptFromReadOnly?: boolean;
  /** Methods that only create events, the only ones open to a key with `create_only`. */
  readonly takesEventsBy?: readonly RouteMethod[];
  /** Closed to API keys with scopes. */
  readonly refusesScopedKeys?: boolean;
  /** Unsafe methods must come from an own origin even without a session. */
  readonly requiresOwnOrigin?: boolean;
  /** A foreign `Origin` is refused before anybody is asked who they are. */
  readonly refusesForeignOrigin?: boolean;
  /** Takes the credentials of log clients and no cookies. */
  readonly takesIngestCredentials?: boolean;
  /** A credential in the query, for those; null for none. */
  readonly queryToken?: (context: Context) => string | null;
  /** Asked before an unsafe method that it does not have is refused; throws for who may not even write. */
  readonly beforeMethodRefusal?: (context: Context) => Promise<void>;
  /** Methods it does not have are looked up among the files. */
  readonly leavesOtherMethods?: boolean;
  /** Answers the same whatever credentials come along, good or bad (embedded assets). */
  readonly ignoresCredentials?: boolean;
  /** Waits for no turn: who asks ends a server that answers late. */
  readonly comesFirst?: boolean;
  /** A 401 stays one for HTML clients too. */
  readonly neverRedirects?: boolean;
  /** Errors are JSON for everybody, also outside of `/api`, `/schema`, `/admin` and `/mcp`. */
  readonly hasJsonErrors?: boolean;
  /** Called with every request that is refused before the handler, before the refusal goes out. */
  readonly onRefused?: (context: Context, reason: AppError) => Promise<void>;
  /** Failures in the words of another contract; redirects of HTML clients come first. */
  readonly answersFailure?: (failure: AppError, context: Context) => Reply;
  /** Bodies of those with this status, for the OpenAPI document; null where they are `{"detail"}`. */
  readonly describesFailure?: FailureBodies;
  /** `Cache-Control` of its answers; `no-store` unless said otherwise. */
  readonly cacheControl?: string;
  /** False: the path is 404 for everyone. Asked for each request. */
  readonly isOn?: (services: ServerServices) => boolean | Promise<boolean>;
  /** False: not in the OpenAPI document, though the path answers: with why it is switched off. */
  readonly isListed?: (services: ServerServices) => boolean;
  /** Unsafe methods take an `Idempotency-Key`; called before an answer is repeated, throws for who may not make the change. */
  readonly repeats?: (context: Context) => void | Promise<void>;
  /** The handler decides about read-only mode itself, after existence. */
  readonly decidesReadOnly?: boolean;
}

/** One path of a server. */
export interface Route {
  /** As Elysia writes it: `/api/apikeys/:key_id`. */
  readonly path: string;
  /** As people read it: `/api/apikeys/{key_id}`, `/api/events/{id:int}`, `/_svc/{name:rest}`. */
  readonly pattern: string;
  readonly methods: readonly RouteMethod[];
  readonly rules: RouteRules;
  /** Each method in the OpenAPI document; absent for what it does not list. */
  readonly describes: Readonly<Partial<Record<RouteMethod, OperationDescription>>>;
}

export interface ResourceView {
  /** Path of the file in the document root; several sheets share it. */
  readonly rel: string;
  /** The table in it; null for a file that is one resource. */
  readonly sheet: string | null;
  readonly type: ResourceType;
  readonly family: Family;
  readonly name: string;
  /** What is wrong with the file; null when nothing is. */
  readonly problem: string | null;
}

/** What a caller may read, in byte order of `rel`, then of `name`. */
export interface ReadableResources {
  readonly resources: readonly ResourceView[];
  /** The files among them that have a problem, once each. */
  readonly problems: readonly { readonly resource: string; readonly problem: string }[];
}

/** What a server hands to its routes: the application, and what only a server has. */
export interface ServerServices extends Readonly<App> {
  readonly metrics: Metrics;
  readonly firstRun: FirstRun;
  /** `clock.monotonic()` at the start of the server. */
  readonly startedAt: number;
  readonly routes: readonly Route[];
  /** Nothing for an anonymous caller. */
  listReadable(caller: Caller): Promise<ReadableResources>;
  /** What is known of a resource without reading it. */
  factsOf(resource: ResourceView): ResourceFacts;
  /** Rejects when the state database cannot be read and written, or is not in place; asked at most once a second. */
  checkState(): Promise<void>;
}

/** What the page of a failure says. */
export interface FailureView {
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  /** A GET: the same address may be asked for again. */
  readonly isRepeatable: boolean;
  /** The form is older than the session, or comes from another site. */
  readonly isStaleForm: boolean;
  /** Seconds; null when unknown. */
  readonly retryAfter: number | null;
}

/** Makes the page; the pages stand above this folder. */
export type FailurePage = (
  context: Context,
  view: FailureView,
  options: Pick<Reply, 'status' | 'headers'>,
) => Reply;

/** What is worked out once for a server. Settings used here need a restart. */
export interface ServerParts {
  readonly services: ServerServices;
  /** Answers every path without a route of its own, for all methods. Its callers are signed in. */
  readonly files: Handler;
  readonly failurePage: FailurePage;
  readonly hosts: HostCheck;
  readonly cors: Cors | null;
  /** Path of `public_url`, `''` without one. */
  readonly basePath: string;
  readonly responder: Responder;
  readonly slowAnswers: SlowAnswers;
  readonly bodyRoom: BodyRoom;
  /** The server itself speaks TLS. */
  readonly hasTls: boolean;
  /** Whether who was let in may go on with a body that comes in slowly. */
  readonly mayStillSend: (context: Context) => Promise<boolean>;
}

interface LiveSession {
  readonly id: number;
  /** Value of its cookie. */
  readonly token: string;
  readonly userId: number;
}

/** The change that an `Idempotency-Key` stands for, while it is being made. */
export interface BegunChange {
  readonly key: ReplyKey;
  readonly settle: () => void;
}

interface ContextFacts {
  readonly request: Request;
  readonly target: RequestTarget;
  readonly server: ServerParts;
  readonly requestId: string;
  readonly peer: Peer;
  /** Reading the body has a time limit of its own. */
  readonly idleLimit: IdleLimit;
}

/** Values in a change of rows: MAX_CHANGED_ROWS of seven columns. */
export const MAX_ROW_VALUES = 400_000;
/** What holds for paths that are no route: files decide existence, method and read-only mode themselves. */
export const FILES = {
  pattern: '/{file}',
  access: 'user',
  cacheControl: PRIVATE,
  decidesReadOnly: true,
  body: { maxBytes: Number.POSITIVE_INFINITY, maxValues: MAX_ROW_VALUES },
} as const;

export class Context {
  readonly request: Request;
  readonly services: ServerServices;
  /** As sent, upper case: also methods nobody here knows. */
  readonly method: string;
  /** The path as it came, percent-encoded, with its slashes. */
  readonly path: string;
  readonly requestId: string;
  readonly peer: Peer;
  /** Values of the pattern's parameters, decoded. */
  parameters: Readonly<Record<string, string>> = {};
  caller: Caller = null;
  session: LiveSession | null = null;
  /** Of the route that was found; of files before. */
  rules: RouteRules = FILES;
  /** Pattern of the route, for log and metrics. */
  pattern: string = FILES.pattern;
  /** Set while a change with an `Idempotency-Key` is being made. */
  change: BegunChange | null = null;
  /** Credentials were asked for. */
  isAdmitted = false;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly server: ServerParts;
  readonly idleLimit: IdleLimit;
  readonly #facts: ContextFacts;
  #cookies: Map<string, string> | null = null;
  #query: URLSearchParams | null = null;
  #linkQuery: URLSearchParams | null = null;
  #body: RequestBody | null = null;
  #bodyRoom = 0;

  constructor(facts: ContextFacts) {
    this.#facts = facts;
    this.request = facts.request;
    this.server = facts.server;
    this.services = facts.server.services;
    this.startedAt = this.services.clock.monotonic();
    this.idleLimit = facts.idleLimit;
    this.method = facts.request.method;
    this.path = facts.target.path;
    this.requestId = facts.requestId;
    this.peer = facts.peer;
  }

  /** The body, to be read once; `json` and `form` do it for most. */
  get body(): RequestBody {
    return (this.#body ??= new RequestBody(this.request, this.idleLimit, {
      mostBytes: () => (this.caller === null ? MAX_ANONYMOUS_BYTES : Number.POSITIVE_INFINITY),
      take: (bytes) => this.#takeRoom(bytes),
      requireStanding: () => this.requireStanding(),
    }));
  }

  /** Throws `not-authenticated` when whoever sends the body has lost credential or account since. */
  async requireStanding(): Promise<void> {
    if (!(await this.server.mayStillSend(this))) throw notAuthenticated();
  }

  /** Gives back the room that the body took; once the request is answered. */
  leaveBodyRoom(): void {
    const bytes = this.#bodyRoom;
    if (bytes === 0) return;
    this.#bodyRoom = 0;
    this.server.bodyRoom.give(this.#sender, bytes);
  }

  async #takeRoom(bytes: number): Promise<void> {
    if (bytes <= 0) return;
    await this.server.bodyRoom.take(this.#sender, bytes, this.#bodyRoom);
    this.#bodyRoom += bytes;
  }

  get #sender(): string {
    return this.caller === null ? '' : String(this.caller.userId);
  }

  /** From the `?` on, as it came; `''` without one. */
  get search(): string {
    return this.#facts.target.search;
  }

  /** The decoded segments of the path, without empty ends; a best guess when `isMatchable` is false. */
  get segments(): readonly string[] {
    return this.#facts.target.segments;
  }

  /** False for a path that names nothing, whatever exists. */
  get isMatchable(): boolean {
    return this.#facts.target.isMatchable;
  }

  /** Query parameters, decoded. Of a repeated one the last counts: use `queryValue`. */
  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.search));
  }

  /** As much of the query as links to other views of the same page carry. */
  get linkQuery(): URLSearchParams {
    return (this.#linkQuery ??= linkQuery(this.query));
  }

  /** The last value of a query parameter; null when absent. */
  queryValue(name: string): string | null {
    if (this.search === '') return null;
    return this.query.getAll(name).at(-1) ?? null;
  }

  /** The caller of a route that needs one. Throws `not-authenticated` where the route is public and nobody signed in. */
  get user(): Principal {
    if (this.caller === null) throw notAuthenticated();
    return this.caller;
  }

  /** Where the caller asks from, for operations and their audit. */
  get origin(): Origin {
    return { clientAddress: this.peer.address };
  }

  get wantsHtml(): boolean {
    return isHtmlClient(this.request.headers.get('accept'));
  }

  /** Cookies are `Secure`. */
  get isSecure(): boolean {
    const { config } = this.services;
    return (
      this.server.hasTls ||
      config.secure_cookies ||
      config.public_url.startsWith('https:') ||
      this.peer.scheme === 'https'
    );
  }

  /** How the client speaks to us, or to the trusted proxy that tells. */
  get scheme(): 'http' | 'https' {
    return this.server.hasTls ? 'https' : (this.peer.scheme ?? 'http');
  }

  /** The address people use for this server, without a trailing slash: `public_url`, else what the request says. */
  get baseUrl(): string {
    return this.services.config.public_url || (this.#requestOrigins[0] ?? '');
  }

  /** Origins that are this server's own, in lower case. */
  get ownOrigins(): readonly string[] {
    const { public_url: publicUrl } = this.services.config;
    return publicUrl === ''
      ? this.#requestOrigins
      : [new URL(publicUrl).origin, ...this.#requestOrigins];
  }

  get #requestOrigins(): string[] {
    const host = (this.peer.host ?? this.request.headers.get('host') ?? '').toLowerCase();
    const scheme = this.server.hasTls ? 'https' : this.peer.scheme;
    // Without TLS of our own and a proxy that tells, something in front may speak https all the same.
    return scheme === null ? [`http://${host}`, `https://${host}`] : [`${scheme}://${host}`];
  }

  /**
   * The JSON body. Throws `too-large` past what the route takes of this caller, `throttled` and `unavailable` without room for it,
   * and `invalid-request` as `parseJsonBody`.
   */
  async json(): Promise<unknown> {
    return this.parsed(await this.body.kept(this.maxBodyBytes));
  }

  /** The value of a JSON body that was read by `body.kept`. Throws as `json`. */
  parsed(bytes: Uint8Array): Promise<unknown> {
    const { maxValues = JSON_BOUNDS.values } = this.rules.body ?? {};
    const values = this.caller === null ? Math.min(maxValues, MAX_ANONYMOUS_VALUES) : maxValues;
    return parseJsonBody(bytes, { ...JSON_BOUNDS, values }, (held) =>
      this.#takeRoom(bodyMemory(bytes.length, held) - this.#bodyRoom),
    );
  }

  /** The text fields of a form body; null when the body is no form. Throws as `parseForm`. */
  async form(): Promise<ReadonlyMap<string, string> | null> {
    return parseForm(this.body, this.request.headers.get('content-type'), this.maxBodyBytes);
  }

  /** Of a body that the route reads as a whole. */
  get maxBodyBytes(): number {
    const { max_body_bytes: most } = this.services.config.limits;
    return Math.min(this.rules.body?.maxBytes ?? MAX_JSON_BYTES, most);
  }

  /** A JSON object or form fields, for routes that take both. Other JSON values come as they are. */
  async formOrJson(): Promise<unknown> {
    if (!isForm(this.body) || (await isJsonInDisguise(this.body))) return this.json();
    const fields = await this.form();
    return fields === null ? {} : Object.fromEntries(fields);
  }

  /** A path parameter as an integer. Throws `invalid-request` at `["path", name]`. */
  intParameter(name: string): number {
    const input = this.parameters[name] ?? '';
    const value = Number(input);
    if (/^[+-]?[0-9]+$/.test(input) && Number.isSafeInteger(value)) return value;
    const msg = 'An id is an integer';
    throw invalidRequest({ type: 'int_parsing', loc: ['path', name], msg, input });
  }

  /** The id of a pattern with `{id:int}`. One beyond all integers is that of nothing: the largest, which is never given out. */
  idParameter(): number {
    return Math.min(Number(this.parameters['id']), Number.MAX_SAFE_INTEGER);
  }

  /** Whether the client already has this version; then answer `emptyReply(304, …)` with the same `etag`. */
  isNotModified(etag: string): boolean {
    return isNotModified(this.request.headers.get('if-none-match'), etag);
  }

  /** A cookie as it was sent; null without it. */
  cookie(name: CookieName | 'svc_theme'): string | null {
    return cookieValue(this.request.headers.get('cookie'), name);
  }

  /** Sends a cookie with the answer, whatever it will be; null forgets it, and the last of a name wins. */
  setCookie(name: CookieName, value: string | null): void {
    (this.#cookies ??= new Map()).set(
      name,
      setCookieHeader(name, value, this.isSecure, `${this.server.basePath}/`),
    );
  }

  /** `Set-Cookie` values of the answer. */
  get cookies(): readonly string[] {
    return this.#cookies === null ? NO_COOKIES : [...this.#cookies.values()];
  }
}
