/**
 * What alerts found. Who may read all that a finding came from sees it and works on it; a credential that may not write
 * only looks.
 */
import type { AccountsApp, App } from '../app.ts';
import { auditList, recordWithin } from '../accounts/audit/audit.ts';
import { findUser } from '../accounts/identity/users.ts';
import { grantsCover, grantsCoverEvents, loadGrants } from '../accounts/rights/permissions.ts';
import type { Principal } from '../accounts/rights/principal.ts';
import { AppError } from '../base/errors.ts';
import { eventsLink, explorerLink, FINDINGS_PAGE } from '../findings/finding-message.ts';
import {
  OPEN_STATUSES,
  SEVERITIES,
  type Severity,
  STATUSES,
  type Status,
} from '../findings/finding.ts';
import {
  changeFinding,
  type Finding,
  type FindingChange,
  findingList,
  listScopes,
  readFindings,
  type VisibleFindings,
} from '../findings/store.ts';
import type { ListPage } from '../store/list-source.ts';
import { planList } from '../tables/read/list-plan.ts';
import { type Actor, permissionNames } from './access.ts';
import type { Administrator, ListRequest } from './administration.ts';
import { withDefaultAccess } from './events/event-access.ts';
import { requireScope } from './events/saved-searches.ts';

/** Of one change. */
export const MAX_CHANGED_FINDINGS = 1_000;
export const MAX_NOTES = 10_000;

export interface FindingView extends Omit<Finding, 'window_from' | 'window_to'> {
  readonly from: string | null;
  readonly to: string | null;
  readonly links: { readonly finding: string; readonly events: string; readonly query: string };
}

/** A user, or the operator at the command line, who sees all. */
export type FindingReader = Principal | Administrator;

type Accounts = Pick<AccountsApp, 'db' | 'lists' | 'clock' | 'audit'>;
/** What rights are asked of; at the command line nothing is. */
type Published = Pick<App, 'registry' | 'config'>;

async function visibleTo(
  services: Accounts & Partial<Published>,
  reader: FindingReader,
): Promise<VisibleFindings | null> {
  if (!('userId' in reader)) return null;
  if (reader.isSuperuser && reader.scopes === null) return null;
  const { registry, config } = services as Published;
  const grants = await loadGrants(services.db, reader);
  const eventRights = withDefaultAccess({ config }, grants);
  const namesOf = (dataset: string): string[] => {
    const resource = registry.lookup('dataset', dataset);
    return resource === null ? [dataset] : permissionNames(resource);
  };
  const scopeIds: number[] = [];
  let unscoped: VisibleFindings['unscoped'] = null;
  for (const { id, indexes, datasets } of await listScopes(services.db)) {
    if (indexes.length + datasets.length === 0) {
      unscoped = { scopeId: id, ownerId: reader.userId };
      continue;
    }
    const isReadable =
      indexes.every((index) => grantsCoverEvents(eventRights, index, 'read')) &&
      datasets.every((dataset) => grantsCover(grants, namesOf(dataset), 'read'));
    if (isReadable) scopeIds.push(id);
  }
  return { scopeIds, unscoped };
}

export interface FindingFilter {
  readonly statuses?: readonly Status[];
  readonly severities?: readonly Severity[];
  /** A name; '' for nobody. */
  readonly owner?: string;
  readonly alert?: string;
  /** Words that alert, key or notes hold, ignoring case. */
  readonly search?: string;
}

/** Newest first unless the query sorts. Throws as `planList`. */
export async function listFindings(
  services: Accounts & Partial<Published>,
  reader: FindingReader,
  { query }: Pick<ListRequest, 'query'>,
  filter: FindingFilter = {},
): Promise<ListPage> {
  const conditions: object[] = [];
  const given = query.get('filter');
  const { statuses, severities, owner, alert, search } = filter;
  if (statuses !== undefined) conditions.push({ status: { $in: statuses } });
  if (severities !== undefined) conditions.push({ severity: { $in: severities } });
  if (owner !== undefined) conditions.push({ owner: owner === '' ? null : owner });
  if (alert !== undefined) conditions.push({ alert_id: alert });
  for (const word of (search ?? '').split(/\s+/).filter(Boolean)) {
    const $icontains = word;
    conditions.push({ $or: ['alert', 'key', 'notes'].map((name) => ({ [name]: { $icontains } })) });
  }
  const asked = new URLSearchParams(query);
  const own = given === null ? undefined : parsed(given);
  // What is no JSON is refused by the list.
  if (conditions.length > 0 && (given === null || own !== undefined)) {
    const $and = own === undefined ? conditions : [...conditions, own];
    asked.set('filter', JSON.stringify({ $and }));
  }
  if (!asked.has('sort')) asked.set('sort', '-last_seen');
  const visible = await visibleTo(services, reader);
  return services.lists.read(planList(findingList(visible), asked));
}

function parsed(filter: string): unknown {
  try {
    return JSON.parse(filter);
  } catch {
    return undefined;
  }
}

/** Throws `not-found`, also for one the reader may not see. */
export async function getFinding(
  services: Accounts & Partial<Published>,
  reader: FindingReader,
  id: number,
): Promise<FindingView> {
  const [found] = await readFindings(services.db, await visibleTo(services, reader), [id]);
  if (found === undefined) throw noFinding(id);
  return viewOf(found);
}

export interface FindingChangeRequest {
  readonly status?: Status;
  readonly severity?: Severity;
  /** A name; null: nobody. */
  readonly owner?: string | null;
  readonly notes?: string;
}

/**
 * All of them or none; audited one by one. Throws `permission-denied`, `not-found` for one the reader may not see,
 * `bad-request` for an unknown owner, `conflict` for one that cannot be opened again, and `precondition-failed` when
 * `version` is not the present one.
 */
export async function updateFindings(
  services: Accounts & Partial<Published>,
  reader: FindingReader,
  origin: Actor['origin'],
  ids: readonly number[],
  request: FindingChangeRequest,
  version: number | null = null,
): Promise<FindingView[]> {
  if ('userId' in reader) requireScope(reader, 'write');
  const visible = await visibleTo(services, reader);
  const { owner, ...rest } = request;
  const user = owner === undefined || owner === null ? null : await findUser(services.db, owner);
  if (owner !== undefined && owner !== null && user?.isActive !== true)
    throw new AppError('bad-request', `There is no active user '${owner}'`);
  const change: FindingChange = {
    ...rest,
    ...(owner !== undefined && { ownerId: user?.id ?? null }),
  };
  const wanted = [...new Set(ids)];
  const now = services.clock.now();
  const userId = 'userId' in reader ? reader.userId : null;
  const suffix = 'userId' in reader ? '' : ' (cli)';
  return services.db.transaction(async (tx) => {
    const found = await readFindings(tx, visible, wanted);
    const missing = wanted.find((id) => !found.some((one) => one.id === id));
    if (missing !== undefined) throw noFinding(missing);
    if (version !== null && found.some((one) => one.version !== version))
      throw new AppError('precondition-failed', 'Somebody changed the finding meanwhile');
    for (const one of found) {
      const done = await changeFinding(tx, one.id, change, now);
      if (done === null)
        throw new AppError(
          'conflict',
          `Finding ${one.id} cannot be opened again: its alert has a newer open one for the same key`,
        );
      if (!done.isChanged) continue;
      const details = `${detailsOf(one, request)}${suffix}`;
      const note = {
        userId,
        action: 'update_finding',
        resource: `finding/${one.id}`,
        details,
        ipAddress: origin.clientAddress,
      };
      await recordWithin(tx, note, now);
    }
    return (await readFindings(tx, visible, wanted)).map(viewOf);
  });
}

/** Names what changed, with notes only as such: they may hold anything. */
function detailsOf(old: Finding, request: FindingChangeRequest): string {
  const { status, severity, owner, notes } = request;
  const changes = [
    ['status', old.status, status],
    ['severity', old.severity, severity],
    ['owner', old.owner ?? 'nobody', owner === null ? 'nobody' : owner],
  ].flatMap(([name, before, after]) =>
    after === undefined || before === after ? [] : [`${name}: ${before} → ${after}`],
  );
  if (notes !== undefined && notes !== old.notes) changes.push('notes');
  return changes.join(', ');
}

export interface FindingEntry {
  readonly at: string;
  /** Null: the alert did it, or the command line. */
  readonly user: string | null;
  readonly action: string;
  readonly details: string | null;
}

const MAX_ENTRIES = 200;

/** What was done with it, newest first. Throws as `getFinding`. */
export async function findingHistory(
  services: Accounts & Partial<Published>,
  reader: FindingReader,
  id: number,
): Promise<FindingEntry[]> {
  await getFinding(services, reader, id);
  return services.db.all<FindingEntry & Record<string, string | null>>(
    `SELECT timestamp AS at, users.username AS user, action, details FROM ${auditList.from}
     LEFT JOIN users ON users.id = audit.user_id WHERE resource = ? ORDER BY audit.id DESC LIMIT ${MAX_ENTRIES}`,
    [`finding/${id}`],
  );
}

function viewOf({ window_from: from, window_to: to, ...rest }: Finding): FindingView {
  const links = {
    finding: `${FINDINGS_PAGE}/${rest.id}`,
    events: eventsLink({ query: rest.query, from, to }),
    query: explorerLink({ query: rest.query, from, to }),
  };
  return { ...rest, from: moment(from), to: moment(to), links };
}

function moment(microseconds: number | null): string | null {
  return microseconds === null ? null : new Date(Math.floor(microseconds / 1000)).toISOString();
}

function noFinding(id: number): AppError {
  return new AppError('not-found', `There is no finding ${id}, or you may not see it`);
}

/** `open` stands for all that are not closed. Throws `bad-request`. */
export function statusesOf(text: string): Status[] {
  return wordsOf(text, [...STATUSES, 'open'], 'status').flatMap((word) =>
    word === 'open' ? [...OPEN_STATUSES] : [word as Status],
  );
}

export function severitiesOf(text: string): Severity[] {
  return wordsOf(text, SEVERITIES, 'severity') as Severity[];
}

function wordsOf(text: string, known: readonly string[], what: string): string[] {
  const words = text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter(Boolean);
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return words;
  throw new AppError('bad-request', `'${unknown}' is no ${what}; there are ${known.join(', ')}`);
}
