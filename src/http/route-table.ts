/**
 * Built-in routes and how a path finds one.
 *
 * A pattern is segments: plain text, `{name}` for any one segment, `{name:int}` for digits, `{name:rest}` last, for one or
 * more segments joined by `/`. Plain text wins over parameters. A path matches with and without one trailing slash; a
 * pattern owns its path for all methods. Registration refuses nonsense at start-up.
 */
import type { AppError } from '../base/errors.ts';
import type { Context } from './context.ts';
import type { FailureBodies, OperationDescription, Viewer } from '../api/operation-description.ts';
import type { Reply } from './reply/reply.ts';
import type { RequestTarget } from './hooks/request-target.ts';
import type { ServerServices } from './dependencies.ts';

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

/** One path of the server. */
export interface Route {
  readonly pattern: string;
  /** Who gets past the door: everybody, signed-in users, superusers. Finer rights are the operation's business. */
  readonly access: 'public' | 'user' | 'superuser';
  readonly methods: Readonly<Partial<Record<RouteMethod, Handler>>>;
  readonly body?: BodyLimits;
  /** Each method in the OpenAPI document; absent for what it does not list. */
  readonly describes?: Readonly<Partial<Record<RouteMethod, OperationDescription>>>;
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
  /** Told of every request the door refuses, before the refusal goes out. */
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
}

/** A route with what is worked out once. */
export interface RegisteredRoute extends Route {
  /** Value of `Allow`. */
  readonly allow: string;
}

/** A route and what stood in the place of its parameters. */
export interface Match {
  readonly route: RegisteredRoute;
  /** Decoded values by parameter name. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface Node {
  readonly texts: Map<string, Node>;
  /** In order of registration; `:int` before others. */
  readonly parameters: {
    readonly name: string;
    readonly isInteger: boolean;
    readonly node: Node;
  }[];
  route: RegisteredRoute | null;
  rest: { readonly name: string; readonly route: RegisteredRoute } | null;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({});

/** All built-in routes. */
export class RouteTable {
  readonly #root = emptyNode();
  /** Patterns without parameters by their path without a trailing slash: found without decoding. */
  readonly #plain = new Map<string, Match>();

  /** Throws RangeError for a pattern that is malformed or stands twice. */
  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#register({ ...route, allow: allowOf(route) });
  }

  /** The route of a path; null: none, so files are asked. */
  find(target: RequestTarget): Match | null {
    if (!target.isAsSent) return null;
    const { path } = target;
    const plainPath = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const plain = this.#plain.get(plainPath);
    if (plain !== undefined) return plain;
    return target.isMatchable ? find(this.#root, target.segments, 0, NO_PARAMETERS) : null;
  }

  /** The paths of the routes without parameters. */
  get plainPaths(): string[] {
    return [...this.#plain.keys()];
  }

  #register(route: RegisteredRoute): void {
    const segments = route.pattern.split('/').slice(1);
    if (route.pattern !== '/' && (!route.pattern.startsWith('/') || segments.includes(''))) {
      throw new RangeError(`Malformed route pattern '${route.pattern}'`);
    }
    let node = this.#root;
    for (const [index, segment] of segments.entries()) {
      if (segment === '') continue;
      const parameter = /^\{(\w+)(?::(int|rest))?\}$/.exec(segment);
      const name = parameter?.[1] ?? '';
      if (parameter?.[2] === 'rest') {
        if (index < segments.length - 1 || node.rest !== null) throw twice(route);
        node.rest = { name, route };
        return;
      }
      node = parameter === null ? textNode(node, segment) : parameterNode(node, name, parameter[2]);
    }
    if (node.route !== null) throw twice(route);
    node.route = route;
    if (!route.pattern.includes('{')) {
      this.#plain.set(route.pattern, { route, parameters: NO_PARAMETERS });
    }
  }
}

/** `Allow` for some methods: GET implies HEAD, OPTIONS always. */
export function allowed(methods: readonly string[]): string {
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set([...all, 'OPTIONS'])].join(', ');
}

function allowOf(route: Route): string {
  return allowed(Object.keys(route.methods));
}

function find(
  node: Node,
  segments: readonly string[],
  at: number,
  parameters: Readonly<Record<string, string>>,
): Match | null {
  const segment = segments[at];
  if (segment === undefined) {
    return node.route === null ? null : { route: node.route, parameters };
  }
  const next = node.texts.get(segment);
  const found = next === undefined ? null : find(next, segments, at + 1, parameters);
  if (found !== null) return found;
  for (const { name, isInteger, node: child } of node.parameters) {
    if (isInteger && !/^[0-9]+$/.test(segment)) continue;
    const match = find(child, segments, at + 1, { ...parameters, [name]: segment });
    if (match !== null) return match;
  }
  if (node.rest === null) return null;
  const { name, route } = node.rest;
  return { route, parameters: { ...parameters, [name]: segments.slice(at).join('/') } };
}

function textNode(node: Node, text: string): Node {
  const known = node.texts.get(text);
  if (known !== undefined) return known;
  const made = emptyNode();
  node.texts.set(text, made);
  return made;
}

function parameterNode(node: Node, name: string, type: string | undefined): Node {
  const isInteger = type === 'int';
  const known = node.parameters.find(
    (parameter) => parameter.name === name && parameter.isInteger === isInteger,
  );
  if (known !== undefined) return known.node;
  const made = { name, isInteger, node: emptyNode() };
  if (isInteger) node.parameters.unshift(made);
  else node.parameters.push(made);
  return made.node;
}

function emptyNode(): Node {
  return { texts: new Map(), parameters: [], route: null, rest: null };
}

function twice(route: Route): RangeError {
  return new RangeError(`Route pattern '${route.pattern}' stands twice or ends too early`);
}
