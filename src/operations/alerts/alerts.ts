/**
 * Alerts: who may define, see and run them.
 *
 * An alert reads with all rights of its owner, so only a credential that has them all defines one. One from a file has
 * no owner until somebody who may write the file approves its very content, and then reads with that person's rights:
 * a file cannot name whose rights it takes.
 */
import type { AccountsApp, App } from '../../app.ts';
import {
  type AlertDefinition,
  checkDefinition,
  type DefinitionProblem,
} from '../../alerts/definition.ts';
import {
  type Alert,
  type AlertContent,
  type AlertRun,
  type AlertState,
  askForRun,
  countOwnAlerts,
  deleteAlert as remove,
  getAlert as get,
  getRun,
  insertAlert,
  lastRuns,
  listAlerts as list,
  listRuns,
  replaceAlert,
  setAlertState,
} from '../../alerts/store.ts';
import { recordWithin } from '../../accounts/audit/audit.ts';
import { findUser, namesOfUsers } from '../../accounts/identity/users.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { ALERT_SAMPLE } from '../../findings/finding-message.ts';
import { mayAccess, type Origin, record } from '../access.ts';
import type { Administrator } from '../administration.ts';
import { requireScope } from '../events/saved-searches.ts';
import { findDeliveryProblems } from '../deliveries.ts';
import { queryProblem } from './alert-search.ts';

export interface AlertView {
  readonly id: number;
  readonly title: string;
  /** Its file in the folder; null: it is kept by the server. */
  readonly source: string | null;
  /** Null: nobody, or the account is gone. */
  readonly owner: string | null;
  readonly definition: AlertDefinition | null;
  readonly state: AlertState;
  readonly problem: string | null;
  readonly next_run: string | null;
  /** Times that nobody ran, because the server was not there or had too much to do. */
  readonly missed: number;
  readonly last_run: AlertRun | null;
  /** Of the file's content, for its approval. */
  readonly hash: string | null;
  readonly may_change: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

/** Of a search without a condition, for its owner. */
export interface LastRows {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly row_count: number;
}

const NO_ALERT = 'There is no such alert';
const LISTED = 200;

/** By title; `after` is the last one of the page before. */
export async function listAlerts(
  services: App,
  caller: Principal,
  after: { readonly title: string; readonly id: number } | null = null,
): Promise<{ readonly alerts: readonly AlertView[]; readonly isMore: boolean }> {
  requireScope(caller, 'read');
  const ownerId = caller.isSuperuser ? null : caller.userId;
  const shown: Alert[] = [];
  let place = after;
  for (;;) {
    const found = await list(services.db, { ownerId, after: place, limit: LISTED + 1 });
    for (const alert of found) if (await isSeenBy(services, caller, alert)) shown.push(alert);
    place = found.at(-1) ?? null;
    if (shown.length > LISTED || found.length <= LISTED) break;
  }
  const views = await viewsOf(services, caller, shown.slice(0, LISTED));
  return { alerts: views, isMore: shown.length > LISTED };
}

/** Throws `not-found` for one that the caller does not see. */
export async function getAlert(services: App, caller: Principal, id: number): Promise<AlertView> {
  const [view] = await viewsOf(services, caller, [await requireSeen(services, caller, id)]);
  return view!;
}

/** Null for alerts, and for others than its owner and superusers. */
export async function lastRowsOf(
  services: App,
  caller: Principal,
  id: number,
): Promise<LastRows | null> {
  const { lastRows, ownerId } = await requireSeen(services, caller, id);
  const isTold = caller.isSuperuser || ownerId === caller.userId;
  return lastRows === null || !isTold ? null : (JSON.parse(lastRows) as LastRows);
}

export async function listAlertRuns(
  services: App,
  caller: Principal,
  id: number,
  page: { readonly before: number | null; readonly limit: number },
): Promise<readonly AlertRun[]> {
  await requireSeen(services, caller, id);
  return listRuns(services.db, id, page);
}

/** Audited. Throws `invalid-request` with all that is wrong, `bad-request` past `alerts.per_user`. */
export async function createAlert(
  services: App,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<AlertView> {
  requireAllRights(caller);
  const definition = await readDefinition(services, caller, body);
  const most = services.config.alerts.per_user;
  const id = await services.db.transaction(async (tx) => {
    if ((await countOwnAlerts(tx, caller.userId)) >= most)
      throw new AppError(
        'bad-request',
        `You have ${most} alerts already, the most of one user (alerts.per_user)`,
      );
    return insertAlert(tx, keptContent(caller.userId, definition, 'on'), services.clock.now());
  });
  await audit(services, caller, origin, 'create', id, definition.title);
  return getAlert(services, caller, id);
}

/** Audited; `version`: that it must have, null: any. Throws as `createAlert`, and `precondition-failed`, `conflict` for a file's. */
export async function updateAlert(
  services: App,
  caller: Principal,
  origin: Origin,
  {
    id,
    body,
    version,
  }: { readonly id: number; readonly body: unknown; readonly version: number | null },
): Promise<AlertView> {
  const alert = await requireOwn(services, caller, id);
  requireNoFile(alert);
  // A search that was nobody's any more belongs to who takes it over.
  const ownerId = alert.ownerId ?? caller.userId;
  const definition = await readDefinition(services, caller, body);
  await services.db.transaction(async (tx) => {
    const present = await get(tx, id);
    if (present === null) throw new AppError('not-found', NO_ALERT);
    if (version !== null && present.version !== version)
      throw new AppError('precondition-failed', 'The alert was changed meanwhile; read it again');
    const state = present.state === 'off' ? 'off' : 'on';
    await replaceAlert(tx, id, keptContent(ownerId, definition, state), services.clock.now());
  });
  await audit(services, caller, origin, 'update', id, definition.title);
  return getAlert(services, caller, id);
}

function keptContent(
  ownerId: number,
  definition: AlertDefinition,
  state: AlertState,
): AlertContent {
  const { title } = definition;
  return {
    source: '',
    ownerId,
    title,
    definition,
    hash: '',
    approvedHash: null,
    state,
    problem: null,
  };
}

/** Audited. What it found stays. Throws `conflict` for one of a file. */
export async function deleteAlert(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<void> {
  const alert = await requireOwn(services, caller, id);
  requireNoFile(alert);
  await remove(services.db, id);
  await audit(services, caller, origin, 'delete', id, alert.title);
}

/** Turns it on or off, also one of a file. Audited. Throws `conflict` for a file that is broken or not approved. */
export async function switchAlert(
  services: App,
  caller: Principal,
  origin: Origin,
  { id, isOn }: { readonly id: number; readonly isOn: boolean },
): Promise<AlertView> {
  const alert = await requireOwn(services, caller, id);
  await switchOne(services, alert, isOn);
  await audit(services, caller, origin, isOn ? 'enable' : 'disable', id, alert.title);
  return getAlert(services, caller, id);
}

async function switchOne(
  { db, clock }: Pick<AccountsApp, 'db' | 'clock'>,
  alert: Alert,
  isOn: boolean,
): Promise<void> {
  if (alert.state === 'broken' || alert.state === 'unapproved' || alert.state === 'gone')
    throw new AppError(
      'conflict',
      `'${alert.title}' cannot be switched: ${alert.problem ?? alert.state}`,
    );
  if (isOn && alert.ownerId === null)
    throw new AppError(
      'conflict',
      `'${alert.title}' has no owner any more; a superuser can save it again to take it over`,
    );
  await setAlertState(db, alert, { state: isOn ? 'on' : 'off' }, clock.now());
}

/**
 * Runs a file's alert from now on with the rights of the caller, as long as the file's content is this one. Audited.
 * Throws `permission-denied` without the right to write the file, `conflict` when it holds something else by now.
 */
export async function approveAlert(
  services: App,
  caller: Principal,
  origin: Origin,
  { id, hash }: { readonly id: number; readonly hash: string },
): Promise<AlertView> {
  requireAllRights(caller);
  const alert = await requireSeen(services, caller, id);
  if (alert.source === '' || alert.definition === null)
    throw new AppError('conflict', alert.problem ?? 'Only the alert of a file is approved');
  const owner = services.config.alerts.file_owner;
  if (owner !== '')
    throw new AppError('conflict', `Alerts in files run as '${owner}' (alerts.file_owner)`);
  if (!(await mayWriteFile(services, caller, alert)))
    throw new AppError('permission-denied', `Permission denied: write on ${alert.source}`);
  const [problem] = await problemsFor(services, caller, alert.definition);
  if (problem !== undefined)
    throw new AppError(
      'conflict',
      `It would not run with your rights: '${problem.path.join('.')}' ${problem.text}`,
    );
  await services.db.transaction(async (tx) => {
    const present = await get(tx, id);
    if (present === null || present.hash !== hash || present.state === 'broken')
      throw new AppError('conflict', 'The file was changed meanwhile; look at it again');
    const content = {
      ...present,
      ownerId: caller.userId,
      approvedHash: hash,
      state: 'on',
      problem: null,
    } as const;
    await replaceAlert(tx, id, content, services.clock.now());
    const note = {
      userId: caller.userId,
      resource: `alert/${id}`,
      ipAddress: origin.clientAddress,
    };
    const details = `Approved '${alert.source}' to run with own rights, sha256 ${hash}`;
    await recordWithin(tx, { ...note, action: 'approve_alert', details }, services.clock.now());
  });
  return getAlert(services, caller, id);
}

/** Waits for its end for a while. Audited. */
export async function runAlert(
  services: App & {
    readonly alerts: { ended(runId: number, timeoutMs: number): Promise<AlertRun | null> };
  },
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<AlertRun> {
  const alert = await requireOwn(services, caller, id);
  const runId = await askOnce(services, alert);
  await audit(services, caller, origin, 'run', id, alert.title);
  const run = await services.alerts.ended(runId, RUN_WAIT_MS);
  if (run === null) throw new AppError('not-found', NO_ALERT);
  return run;
}

const RUN_WAIT_MS = 30_000;

async function askOnce(
  { db, clock }: Pick<AccountsApp, 'db' | 'clock'>,
  alert: Alert,
): Promise<number> {
  if (
    alert.definition === null ||
    alert.ownerId === null ||
    alert.state === 'unapproved' ||
    alert.state === 'broken'
  )
    throw new AppError(
      'conflict',
      `'${alert.title}' cannot run: ${alert.problem ?? 'it has no owner'}`,
    );
  const [last] = await listRuns(db, alert.id, { limit: 1 });
  if (last?.state === 'waiting' && last.kind === 'manual') return last.id;
  return askForRun(db, alert.id, clock.now());
}

/** All that is wrong, with the members it is about. Throws `invalid-request`. */
export async function readDefinition(
  services: App,
  owner: Principal,
  body: unknown,
): Promise<AlertDefinition> {
  const checked = checkDefinition(body);
  if ('problems' in checked) throw wrongDefinition(checked.problems);
  const { definition } = checked;
  const problems = await problemsFor(services, owner, definition);
  if (problems.length > 0) throw wrongDefinition(problems);
  return definition;
}

/** What is wrong with a definition for this owner: what it reads, and where it sends. */
async function problemsFor(
  services: App,
  owner: Principal,
  definition: AlertDefinition,
): Promise<readonly DefinitionProblem[]> {
  const { deliveries = [] } = definition;
  const query = await queryProblem(services, owner, definition);
  const found = await findDeliveryProblems(services, owner, deliveries, ALERT_SAMPLE);
  return [
    ...(query === null ? [] : [query]),
    ...found.map(({ path, text, line }) => ({
      path: ['deliveries', ...path],
      text,
      ...(line !== null && { line }),
    })),
  ];
}

function wrongDefinition(problems: readonly DefinitionProblem[]): AppError {
  return invalidRequest(
    ...problems.map(({ path, text, line }) => ({
      type: 'value_error',
      loc: ['body', ...path.map(String)],
      msg: told(path, text, line),
    })),
  );
}

function told(path: DefinitionProblem['path'], text: string, line: number | undefined): string {
  const where = line === undefined ? '' : `line ${line}: `;
  return path.length === 0 ? text : `'${path.join('.')}' ${where}${text}`;
}

async function viewsOf(
  services: App,
  caller: Principal,
  alerts: readonly Alert[],
): Promise<AlertView[]> {
  const { db } = services;
  const ids = alerts.map(({ id }) => id);
  const runs = ids.length === 0 ? new Map<number, AlertRun>() : await lastRuns(db, ids);
  const owners = alerts.flatMap(({ ownerId }) => (ownerId === null ? [] : [ownerId]));
  const names = await namesOfUsers(db, [...new Set(owners)]);
  return Promise.all(
    alerts.map(async (alert) => ({
      ...viewOf(alert, names, runs),
      may_change:
        alert.source === ''
          ? isOwnedBy(alert, caller)
          : await mayWriteFile(services, caller, alert),
    })),
  );
}

function viewOf(
  alert: Alert,
  names: ReadonlyMap<number, string>,
  runs: ReadonlyMap<number, AlertRun>,
): Omit<AlertView, 'may_change'> {
  const { ownerId, source, hash } = alert;
  return {
    id: alert.id,
    title: alert.title,
    source: source === '' ? null : source,
    owner: ownerId === null ? null : (names.get(ownerId) ?? null),
    definition: alert.definition,
    state: alert.state,
    problem: alert.problem,
    next_run: alert.dueAt,
    missed: alert.missed,
    last_run: runs.get(alert.id) ?? null,
    hash: hash === '' ? null : hash,
    created_at: alert.createdAt,
    updated_at: alert.updatedAt,
    version: alert.version,
  };
}

function isOwnedBy({ ownerId }: Alert, { userId, isSuperuser }: Principal): boolean {
  return isSuperuser || ownerId === userId;
}

async function isSeenBy(services: App, caller: Principal, alert: Alert): Promise<boolean> {
  if (isOwnedBy(alert, caller)) return true;
  return alert.source !== '' && (await mayAccessFile(services, caller, alert, 'read'));
}

function mayWriteFile(services: App, caller: Principal, alert: Alert): Promise<boolean> {
  return mayAccessFile(services, caller, alert, 'write');
}

async function mayAccessFile(
  { registry, db }: App,
  caller: Principal,
  { source }: Alert,
  verb: 'read' | 'write',
): Promise<boolean> {
  const resource = registry.get(source);
  return resource !== null && mayAccess(await loadGrants(db, caller), resource, verb);
}

async function requireSeen(services: App, caller: Principal, id: number): Promise<Alert> {
  requireScope(caller, 'read');
  const alert = await get(services.db, id);
  if (alert === null || alert.state === 'gone' || !(await isSeenBy(services, caller, alert)))
    throw new AppError('not-found', NO_ALERT);
  return alert;
}

async function requireOwn(services: App, caller: Principal, id: number): Promise<Alert> {
  requireAllRights(caller);
  const alert = await requireSeen(services, caller, id);
  if (
    isOwnedBy(alert, caller) ||
    (alert.source !== '' && (await mayWriteFile(services, caller, alert)))
  )
    return alert;
  throw new AppError('permission-denied', 'Only its owner and superusers may do that');
}

/** What it finds goes wherever it says, with all rights of its owner. */
export function requireAllRights({
  scopes,
  isNarrowedSuperuser,
  isCreateOnly,
  credential,
}: Principal): void {
  const isWhole = scopes === null && isNarrowedSuperuser !== true && isCreateOnly !== true;
  if (isWhole && credential !== 'handler-call') return;
  throw new AppError('permission-denied', 'Alerts need a credential with all rights of its user');
}

function requireNoFile({ source }: Alert): void {
  if (source !== '')
    throw new AppError('conflict', `It is defined in '${source}'; change that file`);
}

function audit(
  services: App,
  user: Principal,
  origin: Origin,
  verb: string,
  id: number,
  title: string,
): Promise<void> {
  return record(services, { user, origin }, `${verb}_alert`, `alert/${id}`, title);
}

/** For the command line, where the operator sees all. */
export async function listAllAlerts(
  { db }: AccountsApp,
  _admin: Administrator,
): Promise<Omit<AlertView, 'may_change'>[]> {
  const found = await list(db, { ownerId: null, limit: MAX_ADMIN_LIST });
  const ids = found.map(({ id }) => id);
  const runs = new Map<number, AlertRun>();
  for (let at = 0; at < ids.length; at += LISTED)
    for (const [id, run] of await lastRuns(db, ids.slice(at, at + LISTED))) runs.set(id, run);
  const owners = found.flatMap(({ ownerId }) => (ownerId === null ? [] : [ownerId]));
  const names = await namesOfUsers(db, [...new Set(owners)]);
  return found.map((alert) => viewOf(alert, names, runs));
}

const MAX_ADMIN_LIST = 100_000;

async function requireAny({ db }: AccountsApp, id: number): Promise<Alert> {
  const alert = await get(db, id);
  if (alert === null || alert.state === 'gone')
    throw new AppError('not-found', `There is no alert ${id}`);
  return alert;
}

/** With its last runs. Throws `not-found`. */
export async function showAnyAlert(
  services: AccountsApp,
  _admin: Administrator,
  id: number,
): Promise<Omit<AlertView, 'may_change'> & { readonly runs: readonly AlertRun[] }> {
  const alert = await requireAny(services, id);
  const runs = await listRuns(services.db, id, { limit: 10 });
  const names = await namesOfUsers(services.db, alert.ownerId === null ? [] : [alert.ownerId]);
  const last = new Map(runs.slice(0, 1).map((run) => [id, run]));
  return { ...viewOf(alert, names, last), runs };
}

/** Audited. Throws as `switchAlert`. */
export async function switchAnyAlert(
  services: AccountsApp,
  admin: Administrator,
  id: number,
  isOn: boolean,
): Promise<void> {
  const alert = await requireAny(services, id);
  await switchOne(services, alert, isOn);
  await record(
    services,
    admin,
    isOn ? 'enable_alert' : 'disable_alert',
    `alert/${id}`,
    alert.title,
  );
}

/** The running server takes it up within a second. Audited. The answer is the id of the run. */
export async function askForAnyRun(
  services: AccountsApp,
  admin: Administrator,
  id: number,
): Promise<number> {
  const alert = await requireAny(services, id);
  const runId = await askOnce(services, alert);
  await record(services, admin, 'run_alert', `alert/${id}`, alert.title);
  return runId;
}

/** As long as the file is what it is now, it runs with the rights of this user. Audited. Throws `not-found`, `conflict`. */
export async function approveAnyAlert(
  services: AccountsApp,
  admin: Administrator,
  { id, username }: { readonly id: number; readonly username: string },
): Promise<void> {
  const { db, clock } = services;
  const user = await findUser(db, username);
  if (user === null) throw new AppError('not-found', `There is no user '${username}'`);
  const alert = await requireAny(services, id);
  if (alert.source === '' || alert.definition === null || alert.hash === '')
    throw new AppError('conflict', alert.problem ?? 'Only the alert of a file is approved');
  const state = { ownerId: user.id, approvedHash: alert.hash, state: 'on', problem: null } as const;
  await db.transaction((tx) => replaceAlert(tx, id, { ...alert, ...state }, clock.now()));
  const details = `Approved '${alert.source}' to run with the rights of ${username}, sha256 ${alert.hash}`;
  await record(services, admin, 'approve_alert', `alert/${id}`, details);
}

/** Null when there is none any more. */
export function getAnyRun(
  { db }: AccountsApp,
  _admin: Administrator,
  runId: number,
): Promise<AlertRun | null> {
  return getRun(db, runId);
}
