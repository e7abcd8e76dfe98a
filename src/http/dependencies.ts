/**
 * What the server asks of the rest of the product. `app.ts` provides it; nothing under server/ opens anything itself.
 */
import type { Caller } from '../accounts/rights/principal.ts';
import type { Config } from '../config/schema.ts';
import type { Family, ResourceType } from '../docroot/kind.ts';
import type { Registry } from '../docroot/registry/registry.ts';
import type { AccountServices } from '../operations/accounts.ts';
import type { CacheServices } from '../operations/cache.ts';
import type { SearchServices } from '../operations/search.ts';
import type { SearchIndexServices } from '../operations/search-index.ts';
import type { SearchLanguageServices } from '../operations/searches.ts';
import type { EventServices } from '../operations/event-access.ts';
import type { ContentServices } from '../operations/content.ts';
import type { DatasetServices } from '../operations/datasets.ts';
import type { FirstRun } from '../operations/setup.ts';
import type { ResourceFacts } from '../operations/resources.ts';
import type { UploadServices } from '../operations/uploads.ts';
import type { Metrics } from '../api/metrics-text.ts';
import type { ApiDescription } from '../api/openapi/api-description.ts';
import type { ApiOperation } from '../api/openapi/api-operation.ts';
import type { ApiChoice, ApiListing, OperationName } from '../api/openapi/api-pages.ts';

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

export interface ServerServices
  extends AccountServices, CacheServices, UploadServices, EventServices {
  /** The running configuration. A reload puts another object in its place, so it is read where it is used. */
  readonly config: Config;
  readonly registry: Registry;
  /** 32 bytes that only this server knows. */
  readonly serverSecret: Uint8Array;
  /** Seals what must be told again, such as tokens. */
  readonly instanceKey: Uint8Array;
  readonly metrics: Metrics;
  readonly documents: ContentServices['documents'];
  readonly search: SearchServices['search'] & SearchIndexServices['search'];
  readonly searches: SearchLanguageServices['searches'];
  readonly tables: SearchLanguageServices['tables'];
  readonly datasets: SearchLanguageServices['datasets'];
  readonly reading: DatasetServices['reading'];
  readonly edits: DatasetServices['edits'];
  readonly firstRun: FirstRun;
  /** `clock.monotonic()` at the start of the server. */
  readonly startedAt: number;
  /** Nothing for an anonymous caller. */
  listReadable(caller: Caller): Promise<ReadableResources>;
  /** What is known of a resource without reading it. */
  factsOf(resource: ResourceView): ResourceFacts;
  /** The OpenAPI document for a caller. */
  describeApi(caller: Caller): Promise<ApiDescription>;
  /** The operations of that document, by file and part of the server, for a page. */
  listOperations(caller: Caller, choice: ApiChoice): Promise<ApiListing>;
  /** One of them; null when the caller may not use such a one. */
  findOperation(caller: Caller, wanted: OperationName): Promise<ApiOperation | null>;
  /** Throws when the state database is no longer where it was opened; cheap. */
  requireStateInPlace(): void;
  /** Rejects when the state database cannot be read and written, or is not in place; asked at most once a second. */
  checkState(): Promise<void>;
  /** Entries in the cache; null when that cannot be told. */
  cacheSize(): number | null;
  /** Addresses the published files answer at. */
  endpointCount(): number;
}
