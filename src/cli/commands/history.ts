/** `svc history` and `svc restore-version`: what was done to a file, and having it back as it was. */
import { Audit } from '../../accounts/audit/audit.ts';
import { type App, openApp } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { Config } from '../../config/settings.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { undoChanges } from '../../operations/files/history.ts';
import { contentAt, type Moment, restoreContent } from '../../operations/files/versions.ts';
import type { Entry } from '../../tables/history/change-log.ts';
import { loadAdmin, rootAndNames } from '../administration.ts';
import type { Invocation } from '../command.ts';
import { commandLog } from '../configuration.ts';
import { answerText, textTable } from '../printer.ts';

const DEFAULT_LIMIT = 50;
const ORIGIN = { clientAddress: null };
/** No user: the audit names nobody. */
const OPERATOR: Principal = {
  userId: 0,
  username: 'operator',
  isSuperuser: true,
  credential: 'session',
  sessionId: null,
  apiKeyId: null,
  scopes: null,
};

export async function showHistory(invocation: Invocation): Promise<string> {
  const { name, config } = await named(invocation);
  const limit = Number(invocation.options['limit'] ?? DEFAULT_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new AppError('usage', '--limit: is a number from 1 on');
  }
  return withApp(invocation, config, false, async (app) => {
    const key = fileOf(app, name);
    const entries = await app.changeLog.list(key, {}, limit);
    const listed = entries.map(({ id, at, username, action, rowCount, version }) => ({
      id,
      at,
      user: username === '' ? null : username,
      action,
      rows: rowCount,
      version: version && { size: version.size, sha256: version.hash },
    }));
    return answerText(invocation, { changes: listed }, () => tableOf(entries));
  });
}

function tableOf(entries: readonly Entry[]): string {
  if (entries.length === 0) return 'No change is known.\n';
  return textTable(
    ['change', 'time', 'user', 'action', 'rows', 'bytes before'],
    entries.map(({ id, at, username, action, rowCount, version }) => [
      String(id),
      at,
      username === '' ? '(another program)' : username,
      action,
      rowCount === 0 ? '' : String(rowCount),
      version === null ? '' : String(version.size),
    ]),
  );
}

/** The bytes where they are kept; else the rows, for which no server may run. */
export async function restoreVersion(invocation: Invocation): Promise<string> {
  const { name, config } = await named(invocation);
  const moment = momentOf(invocation.options['to']);
  const restored = await withApp(invocation, config, false, async (app) => {
    const key = fileOf(app, name);
    const id = 'change' in moment ? moment.change : await app.changeLog.lastAt(key, moment.time);
    const whole = app.registry.original(key.rel) ?? key.resource;
    try {
      await contentAt(app, key.rel, id);
    } catch (error) {
      const hasRows = key.resource?.kind.dataset !== undefined;
      if (hasRows && error instanceof AppError && error.code === 'gone')
        return { id, isMade: null };
      throw error;
    }
    if (whole === null) {
      const then = await contentAt(app, key.rel, id);
      if (then.kept === null) throw new AppError('not-found', `There is no file '${name}'`);
      const author = { userId: 0, username: OPERATOR.username, action: 'restore' };
      return { id, isMade: await app.versions.putBack(key.rel, then.kept, author, async () => {}) };
    }
    return { id, isMade: await restoreContent(app, OPERATOR, ORIGIN, whole, id) };
  });
  const isMade = restored.isMade ?? (await restoreRows(invocation, config, name, restored.id));
  return isMade ? `${name} is as it was\n` : `${name} is as it was already\n`;
}

async function restoreRows(
  invocation: Invocation,
  config: Config,
  name: string,
  id: number,
): Promise<boolean> {
  try {
    return await withApp(invocation, config, true, async (app) => {
      const { resource } = fileOf(app, name);
      await undoChanges(app, OPERATOR, ORIGIN, resource!, {
        what: { after: id },
        rowIds: null,
        skipsConflicts: invocation.options['skipConflicts'] === true,
        isDryRun: false,
        ifMatch: null,
      });
      return true;
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'state-unusable') throw error;
    const text = `Only rows are kept of that time, and a server runs here: ask it, with POST /api/${name}/history {"after":${id}}, or its page`;
    throw new AppError('conflict', text, { cause: error });
  }
}

function momentOf(given: unknown): Moment {
  const text = String(given ?? '');
  if (/^\d{1,15}$/.test(text)) return { change: Number(text) };
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return { time: new Date(time).toISOString() };
  const help = `--to: '${text}' is neither the number of a change nor a time such as 2026-11-20T10:00:00Z`;
  throw new AppError('usage', help);
}

async function named(
  invocation: Invocation,
): Promise<{ readonly name: string; readonly config: Config }> {
  const { root, names } = rootAndNames(invocation);
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) {
    throw new AppError('usage', 'the name of a dataset or file is needed');
  }
  return { name, config: await loadAdmin({ ...invocation, positionals: root }) };
}

/** A file that is gone is named by its path. */
function fileOf(
  { registry }: App,
  name: string,
): { readonly rel: string; readonly sheet: string | null; readonly resource: Resource | null } {
  const resource =
    registry.lookup('dataset', name) ??
    registry.lookup('media', name) ??
    registry.lookup('content', name) ??
    registry.original(name);
  return { rel: resource?.rel ?? name, sheet: resource?.sheet ?? null, resource };
}

async function withApp<T>(
  invocation: Invocation,
  config: Config,
  exclusive: boolean,
  work: (app: App) => Promise<T>,
): Promise<T> {
  const log = commandLog(config, invocation.outside);
  const app = await openApp(config, log, { exclusive, readsAhead: false });
  try {
    await app.registry.listed();
    const audit = new Audit({ db: app.db, clock: app.clock, log, isCommandLine: true });
    const record: Audit['record'] = (note) => audit.record({ ...note, userId: null });
    const named = Object.create(audit, { record: { value: record } }) as Audit;
    return await work(Object.create(app, { audit: { value: named } }) as App);
  } finally {
    await app.close();
  }
}
