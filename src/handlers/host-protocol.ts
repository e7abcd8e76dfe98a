/**
 * What the server and the hosts of handlers say to each other over the unix socket (DS-169).
 *
 * A request that names a handler file in `x-svc-handler` is for its router; one without is for the host itself: `/ping`,
 * `/load`, `/unload`, `/schema`. The Python host speaks the same and cannot import this file; keep both alike.
 */

/** Names the handler file a request is for: its path in the document root, percent-encoded. */
export const HANDLER_HEADER = 'x-svc-handler';
/** On an answer: the route threw, and the body is a {@link Thrown} for the log. */
export const THROWN_HEADER = 'x-svc-thrown';

/** An exception inside a route. */
export interface Thrown {
  readonly message: string;
  readonly stack: string;
}

/** Which file is meant. */
export interface FileCommand {
  /** Path in the document root. */
  readonly rel: string;
}

/** What came of loading a file. */
export interface LoadResult {
  /** Why its routes cannot be served, in one line or more; null when they can. */
  readonly problem: string | null;
  /** The file and the files of the document root it imports, as paths in it; as far as they are known. */
  readonly modules: readonly string[];
  /** The problem is only that this process looked for a module before it was there: another one would find it. */
  readonly isStale?: boolean;
}

/** The routes of one file in the vocabulary of OpenAPI; paths start with a slash and are relative to the handler. */
export interface RouterSchema {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/** How a host is doing. */
export interface HostState {
  /** Milliseconds since the server gave up the oldest request that is still being worked on; 0 for none. */
  readonly abandonedMs: number;
}
