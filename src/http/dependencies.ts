/** What a server hands to its routes: the application, and what only a server has. */
import type { Caller } from '../accounts/rights/principal.ts';
import type { App } from '../app.ts';
import type { Family, ResourceType } from '../docroot/kind.ts';
import type { FirstRun } from '../operations/setup.ts';
import type { ResourceFacts } from '../operations/resources.ts';
import type { Metrics } from './metrics.ts';
import type { Route } from './route.ts';

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
