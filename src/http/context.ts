/**
 * One request as route handlers see it. When a handler runs, the caller is known and admitted, CSRF is checked, the body is
 * unread. It reads its input, calls an operation and answers a `Reply`; what it throws becomes an error answer.
 */
import type { Principal, Caller } from '../accounts/rights/principal.ts';
import type { LiveSession } from '../accounts/identity/authenticate.ts';
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
import { linkBase, type RequestTarget } from './hooks/request-target.ts';
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
import type { Dispatcher } from '../deliveries/dispatcher.ts';
import type { AlertRunner } from '../alerts/runner.ts';
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

export type Handler = (context: Context) => Answer | Promise<Answer>;

/** Of a body read as a whole; events and uploads have limits of their own. */
export interface BodyLimits {
  /** MAX_JSON_BYTES when missing; never more than `limits.max_body_bytes`, and MAX_ANONYMOUS_BYTES without a credential. */
  readonly maxBytes?: number;
  /** Values of JSON; those of JSON_BOUNDS when missing. */
  readonly maxValues?: number;
}

/** Checks before a route, and the look of its answers and failures. Those of the first method hold for the path. */
export interface RouteRules {
  /** Finer rights are checked by the operation. */
  readonly access: 'public' | 'user' | 'superuser';
  readonly body?: BodyLimits;
  /** Parameters are digits; a path with other text is looked up among the files. */
  readonly hasNumbers?: boolean;
  /** Name of the wildcard. */
  readonly rest?: string;
  /** In the OpenAPI document, as the contract writes it. */
  readonly endsInSlash?: boolean;
  /** In the OpenAPI document; by `access` unless given. */
  readonly isListedFor?: (viewer: Viewer) => boolean;
  readonly isExemptFromReadOnly?: boolean;
  /** Methods that only create events, the only ones open to a key with `create_only`. */
  readonly takesEventsBy?: readonly RouteMethod[];
  readonly refusesScopedKeys?: boolean;
  /** Also for a session that lacks the second factor its user must have: where one is added. */
  readonly admitsUnproven?: boolean;
  /** Links come in; what they open is decided by the operation. */
  readonly takesLinks?: boolean;
  /** Without a session too. */
  readonly requiresOwnOrigin?: boolean;
  /** Before authentication. */
  readonly refusesForeignOrigin?: boolean;
  /** Takes the credentials of log clients and no cookies. */
  readonly takesIngestCredentials?: boolean;
  /** A credential in the query, for log clients; null for none. */
  readonly queryToken?: (context: Context) => string | null;
  /** Before a 405; throws for callers without the right to write. */
  readonly beforeMethodRefusal?: (context: Context) => Promise<void>;
  /** Methods it does not have are looked up among the files. */
  readonly leavesOtherMethods?: boolean;
  /** For embedded assets. */
  readonly ignoresCredentials?: boolean;
  /** Never queued: a supervisor ends a server whose health check is late. */
  readonly comesFirst?: boolean;
  /** Also for HTML clients. */
  readonly neverRedirects?: boolean;
  /** Also outside of `/api`, `/schema`, `/admin` and `/mcp`. */
  readonly hasJsonErrors?: boolean;
  /** Before the refusal is sent. */
  readonly onRefused?: (context: Context, reason: AppError) => Promise<void>;
  /** For another contract's error shape; redirects of HTML clients come first. */
  readonly answersFailure?: (failure: AppError, context: Context) => Reply;
  /** For the OpenAPI document; null: `{"detail"}`. */
  readonly describesFailure?: FailureBodies;
  /** `no-store` when missing. */
  readonly cacheControl?: string;
  /** Cookies are not looked at: browsers send them by themselves. */
  readonly ignoresCookies?: boolean;
  /** While `isOn` is false its addresses are those of files, as if there were no such route. */
  readonly yieldsWhenOff?: boolean;
  /** False: 404 for everyone. Asked for each request. */
  readonly isOn?: (services: ServerServices) => boolean | Promise<boolean>;
  /** False: left out of the OpenAPI document, though the path answers why it is switched off. */
  readonly isListed?: (services: ServerServices) => boolean;
  /**
   * Unsafe methods take an `Idempotency-Key`; called before an answer is repeated, throws for callers without the right.
   */
  readonly repeats?: (context: Context) => void | Promise<void>;
  /** The handler checks it itself, after existence. */
  readonly decidesReadOnly?: boolean;
}

export interface Route {
  /** As Elysia writes it: `/api/apikeys/:key_id`. */
  readonly path: string;
  /** As people read it: `/api/apikeys/{key_id}`, `/api/events/{id:int}`, `/_svc/{name:rest}`. */
  readonly pattern: string;
  readonly methods: readonly RouteMethod[];
  readonly rules: RouteRules;
  /** Absent for what the OpenAPI document leaves out. */
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
  readonly problem: string | null;
}

/** In byte order of `rel`, then of `name`. */
export interface ReadableResources {
  readonly resources: readonly ResourceView[];
  /** Once for each file. */
  readonly problems: readonly { readonly resource: string; readonly problem: string }[];
}

export interface ServerServices extends Readonly<App> {
  readonly metrics: Metrics;
  readonly firstRun: FirstRun;
  readonly deliveries: Dispatcher;
  readonly alerts: AlertRunner;
  readonly startedAt: number;
  readonly routes: readonly Route[];
  /** Nothing for an anonymous caller. */
  listReadable(caller: Caller): Promise<ReadableResources>;
  /** Without reading the file. */
  factsOf(resource: ResourceView): ResourceFacts;
  /** Rejects when the state database is not in place, readable and writable; asked at most once a second. */
  checkState(): Promise<void>;
}

export interface FailureView {
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  readonly isRepeatable: boolean;
  /** The form is older than the session, or comes from another site. */
  readonly isStaleForm: boolean;
  readonly retryAfter: number | null;
}

export type FailurePage = (
  context: Context,
  view: FailureView,
  options: Pick<Reply, 'status' | 'headers'>,
) => Reply;

/** Made once for a server; settings used here need a restart. */
export interface ServerParts {
  readonly services: ServerServices;
  /** Answers every path without a route, for all methods; callers are signed in. */
  readonly files: Handler;
  readonly failurePage: FailurePage;
  readonly hosts: HostCheck;
  readonly cors: Cors | null;
  /** Path of `public_url`, `''` without one. */
  readonly basePath: string;
  readonly responder: Responder;
  readonly slowAnswers: SlowAnswers;
  readonly bodyRoom: BodyRoom;
  readonly hasTls: boolean;
  /** Whether the sender of a slow body is still admitted. */
  readonly mayStillSend: (context: Context) => Promise<boolean>;
}

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
  readonly idleLimit: IdleLimit;
}

/** Values in a change of rows: MAX_CHANGED_ROWS of seven columns. */
export const MAX_ROW_VALUES = 400_000;
/** For paths that are no route. */
export const FILES = {
  pattern: '/{file}',
  access: 'user',
  cacheControl: PRIVATE,
  decidesReadOnly: true,
  takesLinks: true,
  body: { maxBytes: Number.POSITIVE_INFINITY, maxValues: MAX_ROW_VALUES },
} as const;

export class Context {
  readonly request: Request;
  readonly services: ServerServices;
  /** Upper case; may be any word. */
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  /** Not of a user: nothing else that comes with the request counts. */
  readonly linkSecret: string | null;
  readonly requestId: string;
  readonly peer: Peer;
  /** Decoded. */
  parameters: Readonly<Record<string, string>> = {};
  caller: Caller = null;
  session: LiveSession | null = null;
  rules: RouteRules = FILES;
  /** For log and metrics. */
  pattern: string = FILES.pattern;
  change: BegunChange | null = null;
  /** Authentication was attempted. */
  isAdmitted = false;
  /** Of the monotonic clock. */
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
    this.linkSecret = facts.target.linkSecret;
    this.requestId = facts.requestId;
    this.peer = facts.peer;
  }

  /** Can be read once. */
  get body(): RequestBody {
    return (this.#body ??= new RequestBody(this.request, this.idleLimit, {
      mostBytes: () => (this.caller === null ? MAX_ANONYMOUS_BYTES : Number.POSITIVE_INFINITY),
      take: (bytes) => this.#takeRoom(bytes),
      requireStanding: () => this.requireStanding(),
    }));
  }

  /** Throws `not-authenticated` when the sender lost credential or account meanwhile. */
  async requireStanding(): Promise<void> {
    if (!(await this.server.mayStillSend(this))) throw notAuthenticated();
  }

  /** Once the request is answered. */
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
    const { caller } = this;
    if (caller?.link !== undefined) return caller.username;
    return caller === null ? '' : String(caller.userId);
  }

  /** Addresses in pages begin with it: the path of `public_url`, and that of a link. */
  get basePath(): string {
    const { basePath } = this.server;
    return this.linkSecret === null ? basePath : basePath + linkBase(this.linkSecret);
  }

  /** With its `?`; `''` without one. */
  get search(): string {
    return this.#facts.target.search;
  }

  /** Decoded, without empty ends; a guess when `isMatchable` is false. */
  get segments(): readonly string[] {
    return this.#facts.target.segments;
  }

  /** False for a path that cannot name anything. */
  get isMatchable(): boolean {
    return this.#facts.target.isMatchable;
  }

  /** Of a repeated one the last counts: use `queryValue`. */
  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.search));
  }

  /** The part that links of the same page carry on. */
  get linkQuery(): URLSearchParams {
    return (this.#linkQuery ??= linkQuery(this.query));
  }

  /** The last one; null when absent. */
  queryValue(name: string): string | null {
    if (this.search === '') return null;
    return this.query.getAll(name).at(-1) ?? null;
  }

  /** Throws `not-authenticated` on a public route without a signed-in caller. */
  get user(): Principal {
    if (this.caller === null) throw notAuthenticated();
    return this.caller;
  }

  get origin(): Origin {
    return { clientAddress: this.peer.address };
  }

  get wantsHtml(): boolean {
    return isHtmlClient(this.request.headers.get('accept'));
  }

  get isSecure(): boolean {
    const { config } = this.services;
    return (
      this.server.hasTls ||
      config.secure_cookies ||
      config.public_url.startsWith('https:') ||
      this.peer.scheme === 'https'
    );
  }

  get scheme(): 'http' | 'https' {
    return this.server.hasTls ? 'https' : (this.peer.scheme ?? 'http');
  }

  /** Without a trailing slash: `public_url`, else from the request. */
  get baseUrl(): string {
    return this.services.config.public_url || (this.#requestOrigins[0] ?? '');
  }

  /** In lower case. */
  get ownOrigins(): readonly string[] {
    const { public_url: publicUrl } = this.services.config;
    return publicUrl === ''
      ? this.#requestOrigins
      : [new URL(publicUrl).origin, ...this.#requestOrigins];
  }

  get #requestOrigins(): string[] {
    const host = (this.peer.host ?? this.request.headers.get('host') ?? '').toLowerCase();
    const scheme = this.server.hasTls ? 'https' : this.peer.scheme;
    // Without TLS here, an unknown proxy in front may still speak https.
    return scheme === null ? [`http://${host}`, `https://${host}`] : [`${scheme}://${host}`];
  }

  /** Throws `too-large`, `throttled` and `unavailable` without room, and `invalid-request` as `parseJsonBody`. */
  async json(): Promise<unknown> {
    return this.parsed(await this.body.kept(this.maxBodyBytes));
  }

  /** Of bytes read by `body.kept`. Throws as `json`. */
  parsed(bytes: Uint8Array): Promise<unknown> {
    const { maxValues = JSON_BOUNDS.values } = this.rules.body ?? {};
    const values = this.caller === null ? Math.min(maxValues, MAX_ANONYMOUS_VALUES) : maxValues;
    return parseJsonBody(bytes, { ...JSON_BOUNDS, values }, (held) =>
      this.#takeRoom(bodyMemory(bytes.length, held) - this.#bodyRoom),
    );
  }

  /** Null when the body is no form. Throws as `parseForm`. */
  async form(): Promise<ReadonlyMap<string, string> | null> {
    return parseForm(this.body, this.request.headers.get('content-type'), this.maxBodyBytes);
  }

  get maxBodyBytes(): number {
    const { max_body_bytes: most } = this.services.config.limits;
    return Math.min(this.rules.body?.maxBytes ?? MAX_JSON_BYTES, most);
  }

  /** Other JSON values come as they are. */
  async formOrJson(): Promise<unknown> {
    if (!isForm(this.body) || (await isJsonInDisguise(this.body))) return this.json();
    const fields = await this.form();
    return fields === null ? {} : Object.fromEntries(fields);
  }

  /** Throws `invalid-request` at `["path", name]`. */
  intParameter(name: string): number {
    const input = this.parameters[name] ?? '';
    const value = Number(input);
    if (/^[+-]?[0-9]+$/.test(input) && Number.isSafeInteger(value)) return value;
    const msg = 'An id is an integer';
    throw invalidRequest({ type: 'int_parsing', loc: ['path', name], msg, input });
  }

  /** Of a pattern with `{id:int}`. Too large a number becomes the largest, an id never given out. */
  idParameter(): number {
    return Math.min(Number(this.parameters['id']), Number.MAX_SAFE_INTEGER);
  }

  /** Then answer `emptyReply(304, …)` with the same `etag`. */
  isNotModified(etag: string): boolean {
    return isNotModified(this.request.headers.get('if-none-match'), etag);
  }

  /** Null without it. */
  cookie(name: CookieName | 'svc_theme'): string | null {
    return cookieValue(this.request.headers.get('cookie'), name);
  }

  /** Null deletes it; the last of a name wins. */
  setCookie(name: CookieName, value: string | null): void {
    (this.#cookies ??= new Map()).set(
      name,
      setCookieHeader(name, value, this.isSecure, `${this.basePath}/`),
    );
  }

  get cookies(): readonly string[] {
    return this.#cookies === null ? NO_COOKIES : [...this.#cookies.values()];
  }
}
