/** The caller of `find` decides resource by resource what may be found; entries of any other are not read. */
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ChildPool } from '../processes/child-pool.ts';
import type { Config } from '../config/settings.ts';
import { queryWords } from '../tables/filter/words.ts';
import { stateFolder } from '../store/state-files.ts';
import { indexClient } from './index-client.ts';
import { DAMAGED, isDamageNoted, noteDamage } from './index-file.ts';
import { type IndexCounts, Indexer } from './indexer.ts';
import type { Contents, Published, PublishedResource } from './publisher.ts';
import type { FoundEntry, FoundPage } from './rank.ts';
import { type Rebuild, type RebuildProgress, RebuildRequests, Rebuilds } from './rebuilds.ts';
import type { FindOrder } from './search-jobs.ts';

interface SearchOptions {
  readonly stateDir: string;
  /** Folder of the typed copies. */
  readonly copies: string;
  readonly published: Published;
  readonly contents: Contents;
  readonly pools: { readonly query: ChildPool; readonly index: ChildPool };
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
}

export const INDEX_FILE = 'search/index.sqlite';

interface SearchRequest<Resource extends PublishedResource> {
  readonly q: string;
  readonly offset: number;
  readonly limit: number;
  /** Those the caller may read, in the order that decides ties. */
  readonly resources: readonly Resource[];
}

type SearchHit<Resource> = Omit<FoundEntry, 'no'> & { readonly resource: Resource };

interface SearchPage<Resource> {
  readonly hits: readonly SearchHit<Resource>[];
  readonly hasMore: boolean;
}

const NOTHING = { hits: [], hasMore: false };
/** Resources a rebuild queues at once: enough for the indexer, few enough to stop quickly. */
const REBUILD_READERS = 8;

/** Resolves when what an earlier run indexed can be found; with `search_on_startup`, changed files are then read. */
export async function openSearch(options: SearchOptions): Promise<Search> {
  const search = new Search(options);
  await search.indexer.open();
  search.follow();
  return search;
}

export class Search {
  readonly #options: SearchOptions;
  readonly #path: string;
  readonly #snapshot: string;
  readonly #requests: RebuildRequests;
  readonly #asked = new Set<Promise<FoundPage>>();
  #stopFollowing: (() => void) | null = null;
  readonly indexer: Indexer;
  readonly rebuilds: Rebuilds;

  constructor(options: SearchOptions) {
    const { stateDir, published, contents, pools, config, clock, log } = options;
    const folder = stateFolder(stateDir, 'search');
    this.#options = options;
    this.#path = join(stateDir, INDEX_FILE);
    this.#snapshot = join(folder, 'titles.json');
    this.indexer = new Indexer({
      client: indexClient(pools.index, this.#path),
      path: this.#path,
      published,
      contents: { ...contents, release: (copy) => void this.#release(copy) },
      temporary: folder,
      snapshot: this.#snapshot,
      limits: () => ({
        maxBytes: config().search.max_document_bytes,
        maxRows: config().search.max_rows,
      }),
      log,
    });
    const rebuild: Rebuild = (...order) => this.rebuild(...order);
    this.#requests = new RebuildRequests({ folder, rebuild, log });
    this.rebuilds = new Rebuilds({ rebuild, clock, log });
  }

  /** Searchable entries: rows, sections, pages, files. */
  get documents(): number {
    return this.indexer.documents;
  }

  get pending(): number {
    return this.indexer.pending;
  }

  /** Follows publications from now on, and with `search_on_startup` existing ones. */
  follow(): void {
    const { published, config, log } = this.#options;
    const { indexer } = this;
    this.#stopFollowing = published.onChange(({ added, changed, removed }) => {
      const gone = removed.filter(({ rel, sheet }) => published.get(rel, sheet) === null);
      indexer.remove(gone).catch((error: unknown) => {
        log.warning('what is gone was not taken out of the search index', { error });
      });
      for (const resource of [...added, ...changed]) void indexer.follow(resource);
    });
    this.#requests.listen();
    if (!config().search_on_startup) return;
    indexer.prune().catch((error: unknown) => {
      log.warning('what is gone was not taken out of the search index', { error });
    });
    for (const resource of published.list()) void indexer.follow(resource);
  }

  /** Throws `unavailable` and `timed-out`; a query is never an error. */
  async find<Resource extends PublishedResource>({
    q,
    offset,
    limit,
    resources,
  }: SearchRequest<Resource>): Promise<SearchPage<Resource>> {
    const { pools, config } = this.#options;
    const words = queryWords(q);
    const byNo = new Map<number, Resource>();
    for (const resource of resources) {
      const no = this.indexer.rangeOf(resource);
      if (no !== null) byNo.set(no, resource);
    }
    if (words.length === 0 || byNo.size === 0) return NOTHING;
    const order: FindOrder = {
      path: this.#path,
      snapshot: this.#snapshot,
      copies: this.#options.copies,
      words,
      resources: [...byNo.keys()],
      offset,
      limit,
      isTolerant: config().search.typo_tolerance,
    };
    const timeoutMs = config().limits.query_timeout_seconds * 1000;
    const asked = pools.query
      .request('search', order, { timeoutMs })
      .then((response) => response.json() as Promise<FoundPage>);
    this.#asked.add(asked);
    const page = await asked
      .catch((error: unknown) => {
        this.#noteDamage(error);
        throw error;
      })
      .finally(() => this.#asked.delete(asked));
    for (const no of page.unread) void this.indexer.follow(byNo.get(no)!);
    const hits = page.hits.map(({ no, ...hit }) => ({ ...hit, resource: byNo.get(no)! }));
    return { hits, hasMore: page.hasMore };
  }

  /** Searches under way may still read it. */
  async #release(copy: string): Promise<void> {
    await Promise.allSettled(this.#asked);
    this.#options.contents.release(copy);
  }

  #noteDamage(error: unknown): void {
    const { log } = this.#options;
    const isDamaged = error instanceof AppError && error.message === DAMAGED;
    if (!isDamaged || isDamageNoted(this.#path)) return;
    try {
      noteDamage(this.#path);
      log.warning('the search index is damaged; the next start builds it again');
    } catch (failure) {
      log.warning('the search index is damaged; delete it and start again', { error: failure });
    }
  }

  /** Those of the resources with rows that are not searched, and their number. */
  leftOut(
    resources: readonly PublishedResource[],
  ): { readonly resource: PublishedResource; readonly rows: number }[] {
    const { indexer } = this;
    // Nearly always: asking for each of thousands would cost a tenth of a search.
    if (!indexer.leavesOut) return [];
    return resources
      .map((resource) => ({ resource, rows: indexer.leftOutOf(resource) }))
      .filter(({ rows }) => rows > 0);
  }

  /** With `isForced` also what did not change. Starts nothing more after `signal`. */
  async rebuild(
    isForced: boolean,
    onProgress: RebuildProgress,
    signal?: AbortSignal,
  ): Promise<IndexCounts> {
    const { published } = this.#options;
    const { indexer } = this;
    const sizeOf = (resource: PublishedResource): number => published.stampOf(resource)?.size ?? 0;
    const resources = [...published.list()].sort((a, b) => sizeOf(a) - sizeOf(b));
    const counts = { indexed: 0, documents: 0, skipped: 0, pruned: await indexer.prune() };
    let done = 0;
    const waiting = resources.values();
    const read = async (): Promise<void> => {
      for (const resource of waiting) {
        if (signal?.aborted === true) return;
        const count = await indexer.follow(resource, isForced);
        if (count === 'skipped') counts.skipped += 1;
        else if (count !== null) {
          counts.indexed += 1;
          counts.documents += count.documents;
        }
        done += 1;
        onProgress(done, resources.length);
      }
    };
    await Promise.all(Array.from({ length: REBUILD_READERS }, read));
    return counts;
  }

  /** The pools belong to the caller. */
  close(): void {
    this.#stopFollowing?.();
    this.rebuilds.stop();
    this.#requests.close();
    this.indexer.close();
  }
}
