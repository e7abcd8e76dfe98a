/**
 * What a route says of itself beside its path, method and handler, and the list of all routes of a server.
 *
 * A path matches with and without one trailing slash, and is owned for all methods: HEAD follows from GET, OPTIONS and 405 from
 * the methods there are. What a route says of its methods for the OpenAPI document are TypeBox values, so JSON Schema of OpenAPI 3.1; one with
 * a `$id` is a named model and stands once, in `components.schemas`. A test fails for a method that says nothing.
 */
import type { AnyElysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import type { Context } from './context.ts';
import type { Reply } from './reply/reply.ts';
import type { ServerServices } from './dependencies.ts';
import type { TSchema } from '@sinclair/typebox';
import type { Grants } from '../accounts/rights/permissions.ts';
import type { Caller } from '../accounts/rights/principal.ts';

/** A `Response` goes out as it is but for the headers every response has. */
export type Answer = Reply | Response;
/** Answers a request that was let in. What it throws becomes an error answer. */
export type Handler = (context: Context) => Answer | Promise<Answer>;

/** Methods a route can have; HEAD and OPTIONS follow from them. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

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

/** Where a route keeps in its `detail` what the macros of lifecycle.ts were given. */
interface RouteDetail {
  readonly 'x-rules'?: RouteRules;
  readonly 'x-operation'?: OperationDescription;
}

/** The routes of plugins, by path. */
export function routesOf(plugins: readonly AnyElysia[]): Route[] {
  const routes = new Map<string, Route>();
  for (const { path, method, hooks } of plugins.flatMap((plugin) => plugin.routes)) {
    const detail = hooks.detail as RouteDetail | undefined;
    const rules = detail?.['x-rules'];
    if (rules === undefined) throw new RangeError(`The route ${path} has no checks`);
    const known = routes.get(path) ?? {
      path,
      pattern: patternOf(path, rules),
      methods: [],
      rules,
      describes: {},
    };
    const operation = detail?.['x-operation'];
    routes.set(path, {
      ...known,
      methods: [...known.methods, method as RouteMethod],
      describes: { ...known.describes, ...(operation !== undefined && { [method]: operation }) },
    });
  }
  return [...routes.values()];
}

const patterns = new Map<string, string>();

/** The pattern of a path, as log and metrics name it. */
export function patternOf(
  path: string,
  { hasNumbers, rest = 'rest' }: Pick<RouteRules, 'hasNumbers' | 'rest'>,
): string {
  let pattern = patterns.get(path);
  if (pattern === undefined) {
    pattern = path
      .replace(/:(\w+)/g, hasNumbers === true ? '{$1:int}' : '{$1}')
      .replace(/\*$/, `{${rest}:rest}`);
    patterns.set(path, pattern);
  }
  return pattern;
}

/** `Allow` for some methods: GET implies HEAD, OPTIONS always. */
export function allowed(methods: readonly string[]): string {
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set([...all, 'OPTIONS'])].join(', ');
}

const SAFE_ONLY = 'GET, HEAD, OPTIONS';

/** 405 with the methods a path has; GET implies HEAD, OPTIONS is always there. */
export function methodNotAllowed(methods: readonly string[]): AppError {
  const headers = { Allow: allowed(methods) };
  return new AppError('method-not-allowed', 'Method Not Allowed', { headers });
}

/** 405 of read-only mode. */
export function readOnlyMode(): AppError {
  const headers = { Allow: SAFE_ONLY };
  return new AppError('read-only', 'Server is in read-only mode', { headers });
}

/** Whether a method changes nothing and so needs no CSRF token. */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

export interface Viewer {
  readonly caller: Caller;
  readonly grants: Grants;
  /** Can read some media file. */
  readonly readsMedia: boolean;
  /** Uploads are on and the caller holds the right to them. */
  readonly mayUpload: boolean;
  /** May read or write some index. */
  readonly usesEvents: boolean;
}

/** Groups of operations; resources are tagged with their type instead. */
export const OPERATION_TAGS = ['auth', 'admin', 'search', 'uploads', 'system', 'events'] as const;

export type OperationTag = (typeof OPERATION_TAGS)[number];

export interface ParameterDescription {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: TSchema;
}

/** A request body. `schema` null: bytes of any shape. */
export interface BodyDescription {
  /** `application/json` unless said otherwise. */
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  readonly required?: boolean;
}

/** The bodies a failure with this status may have; null: those of every other route. */
export type FailureBodies = (status: number) => readonly BodyDescription[] | null;

/** What comes back with one status. `schema` null: no body, or bytes of `mediaType`. */
export interface AnswerDescription {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  /** HTML clients get a page with the same status instead. */
  readonly hasPage?: boolean;
}

export interface OperationDescription {
  /** One sentence without a full stop, in the imperative: `List the users`. */
  readonly summary: string;
  readonly tag: OperationTag;
  /** Path parameters that are only text or digits need no entry. */
  readonly parameters?: readonly ParameterDescription[];
  readonly body?: BodyDescription | readonly BodyDescription[];
  /** Successful answers by status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Statuses of errors it can answer beyond 401, 403 and 405, which follow from the route. */
  readonly errors?: readonly number[];
}
