/**
 * The protocol between the server and handler hosts over the unix socket.
 *
 * A request with `x-svc-handler` is for the router of that file; one without is for the host itself: `/ping`,
 * `/load`, `/unload`, `/schema`. The Python host cannot import this file; keep both alike.
 */

/** Percent-encoded path of the file in the document root. */
export const HANDLER_HEADER = 'x-svc-handler';
/** On an answer: the route threw, and the body is a {@link Thrown} for the log. */
export const THROWN_HEADER = 'x-svc-thrown';

export interface Thrown {
  readonly message: string;
  readonly stack: string;
}

export interface FileCommand {
  readonly rel: string;
}

export interface LoadResult {
  /** Null when the routes can be served. */
  readonly problem: string | null;
  /** The file and its imports, as far as known. */
  readonly modules: readonly string[];
  /** The process looked for a module before it existed; a new process would find it. */
  readonly isStale?: boolean;
}

/** In the vocabulary of OpenAPI; paths are relative to the handler. */
export interface RouterSchema {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

export interface HostState {
  /** Milliseconds since the server gave up the oldest running request; 0 for none. */
  readonly abandonedMs: number;
}
