/**
 * `svc reindex`: updates the search index, or rebuilds it with `--force`.
 *
 * Beside a running server the server does it, since the index has one writer; the command asks and
 * waits.
 */
import { join } from 'node:path';
import { type App, openApp } from '../../app.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import type { IndexCounts } from '../../fulltext/indexer.ts';
import { requestRebuild } from '../../fulltext/rebuilds.ts';
import { INDEX_FILE } from '../../fulltext/search.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';
import { progressLine } from '../progress-line.ts';

export async function reindex(invocation: Invocation): Promise<string> {
  const { outside, options } = invocation;
  const { config } = await loadInvocation(invocation);
  const line = progressLine(outside);
  const { path, counts } = await rebuildIndex(
    config,
    commandLog(config, line.outside),
    options['force'] === true,
    (done, total) => line.show(`${done} of ${total} resource(s)`),
  ).finally(() => line.clear());
  const { indexed, documents, skipped, pruned } = counts;
  return (
    `Document root: ${config.docroot}\nSearch index: ${path}\n` +
    `Indexed ${indexed} resource(s) (${documents} document(s)), skipped ${skipped}, pruned ${pruned}\n`
  );
}

/**
 * By the server that runs on this state, else in this process. Throws `state-unusable`, and
 * `unavailable` when a server does not answer.
 */
async function rebuildIndex(
  config: Config,
  log: Log,
  isForced: boolean,
  onProgress: (done: number, total: number) => void,
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
