/**
 * `svc events import`: works while a server runs. Invalid lines go to standard error and make it
 * fail.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { importFile } from '../../../events/intake/import.ts';
import { DirectStore } from '../../../events/store/direct-store.ts';
import { writerSettings } from '../../../events/events.ts';
import { AppError } from '../../../base/errors.ts';
import type { Config } from '../../../config/settings.ts';
import type { ImportProgress } from '../../../events/intake/import.ts';
import { loadAdmin, rootAndNames } from '../../administration.ts';
import type { Invocation } from '../../command.ts';
import { progressLine } from '../../progress-line.ts';
import { plain } from '../../printer.ts';

const MAX_SHOWN_REJECTS = 20;
const BAR_CHARACTERS = 30;

export async function importEvents(invocation: Invocation): Promise<number> {
  const { root, names: files } = rootAndNames(invocation);
  const config = await loadAdmin({ ...invocation, positionals: root });
  if (files.length === 0) throw new AppError('usage', 'a file to import is needed');
  if (files.includes('-') && invocation.options['resume'] === true)
    throw new AppError('usage', '--resume: standard input has no place to go on from');
  // Check all first, so that a misspelt last name does not leave the others imported.
  for (const file of files) if (file !== '-') requireFile(invocation.outside.cwd, file);
  let rejected = 0;
  for (const file of files) rejected += await importOne(invocation, config, file);
  return rejected === 0 ? 0 : 1;
}

async function importOne(invocation: Invocation, config: Config, file: string): Promise<number> {
  const { options } = invocation;
  const line = progressLine(invocation.outside);
  const { outside } = line;
  const direct = new DirectStore(config.state_dir, writerSettings(config));
  const startedAt = performance.now();
  let last: ImportProgress | null = null;
  let shown = 0;
  try {
    const order = {
      path: file === '-' ? file : resolve(outside.cwd, file),
      defaults: defaultsOf(options),
      isPlain: options['lines'] === true,
      resumes: options['resume'] === true,
    };
    const parts = {
      store: direct.store,
      writer: direct,
      stateDir: config.state_dir,
      minFreeBytes: config.events.min_free_bytes,
      maxEvents: config.events.limits.max_events,
    };
    for await (const progress of importFile(order, parts)) {
      last = progress;
      for (const { line: number, reason } of progress.rejects) {
        if ((shown += 1) <= MAX_SHOWN_REJECTS)
          outside.err(`${plain(file)}:${number}: ${plain(reason)}\n`);
      }
      line.show(progressText(file, progress, startedAt));
    }
  } catch (error) {
    if (!(error instanceof AppError) || last === null) throw error;
    const more = file === '-' ? '' : '; --resume goes on behind them';
    const hint = `${last.accepted} event(s) of ${file} are stored${more}`;
    throw new AppError(error.code, `${error.message}\n${hint}`, { cause: error });
  } finally {
    line.clear();
    direct.close();
  }
  const { accepted = 0, rejected = 0 } = last ?? {};
  const left = rejected === 0 ? '' : `, ${rejected} line(s) left out`;
  outside.out(`${plain(file)}: ${accepted} event(s) imported${left}\n`);
  return rejected;
}

/** Fails before the store is opened, in the command line's words. */
function requireFile(cwd: string, file: string): void {
  const found = statSync(resolve(cwd, file), { throwIfNoEntry: false });
  if (found === undefined) {
    throw new AppError('not-found', `${plain(file)} cannot be read: there is no such file`);
  }
  if (found.isDirectory()) {
    throw new AppError('bad-request', `${plain(file)} cannot be read: it is a folder, not a file`);
  }
}

function defaultsOf(options: Invocation['options']): Record<string, string> {
  const given = ['index', 'sourcetype', 'source', 'host'].flatMap((name) => {
    const value = options[name];
    return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [];
  });
  return Object.fromEntries(given) as Record<string, string>;
}

function progressText(
  file: string,
  { bytes, size, accepted }: ImportProgress,
  startedAt: number,
): string {
  const share = size === 0 ? 1 : Math.min(1, bytes / size);
  const bar = '#'.repeat(Math.round(share * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '.');
  const rate = Math.round(accepted / Math.max(0.001, (performance.now() - startedAt) / 1000));
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${plain(file)} [${bar}] ${percent} %  ${accepted} events, ${rate}/s`;
}
