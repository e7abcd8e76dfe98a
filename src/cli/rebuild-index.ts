import { join } from 'node:path';
import { type App, openApp } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/schema.ts';
import type { IndexCounts } from '../fulltext/indexer.ts';
import { requestRebuild } from '../fulltext/rebuilds.ts';
import { INDEX_FILE } from '../fulltext/search.ts';

interface RebuildOptions {
  readonly isForced: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * By the server that runs on this state, else in this process. Throws `state-unusable`, and
 * `unavailable` when a server does not answer.
 */
export async function rebuildIndex(
  config: Config,
  log: Log,
  { isForced, onProgress }: RebuildOptions,
): Promise<{ readonly path: string; readonly counts: IndexCounts }> {
  const path = join(config.state_dir, INDEX_FILE);
  const app = await openAlone(config, log);
  if (app === null) {
    return { path, counts: await requestRebuild(config.state_dir, isForced, onProgress) };
  }
  try {
    await app.registry.listed();
    return { path, counts: await app.search.rebuild(isForced, onProgress) };
  } finally {
    await app.close();
  }
}

/** Null when another process has the state open. */
async function openAlone(config: Config, log: Log): Promise<App | null> {
  try {
    // Files read at startup would be counted as skipped.
    const quiet = { ...config, search_on_startup: false };
    return await openApp(quiet, log, { exclusive: true, readsAhead: false });
  } catch (error) {
    if (error instanceof AppError && /in use by process/.test(error.message)) return null;
    throw error;
  }
}
