/** Dashboards: what their files hold, and changing that in place. */
import type { App } from '../../app.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller, Principal, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { hashFile, isRacy } from '../../base/files/file-stamp.ts';
import type { DashboardPatch, ReadDashboard } from '../../docroot/dashboard.ts';
import type { KeptVersion } from '../../docroot/file-versions.ts';
import { sha256Hex } from '../../base/ids.ts';
import { versionOf } from '../../docroot/documents.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { mayAccess, type Origin, record, requireAccess } from '../access.ts';
import { type PanelQuery, panelQueries } from './panel-queries.ts';

export interface ShownDashboard extends ReadDashboard {
  readonly resource: string;
  readonly file_name: string;
  readonly may_write: boolean;
  /** Of the file: its `ETag`. */
  readonly version: string;
  readonly queries: Readonly<Record<string, PanelQuery>>;
}

/** Throws as `requireAccess`, and `not-found` for a name that is no dashboard. */
export async function findDashboard(
  services: App,
  caller: Caller,
  origin: Origin,
  name: string,
  verb: Verb,
): Promise<Resource> {
  const found = services.registry.lookup('content', name);
  const resource = found?.type === 'dashboard' ? found : null;
  return requireAccess(services, caller, origin, { name, resource, verb });
}

/** By rel in byte order; broken ones too. */
export async function listDashboards(
  { db, registry, config }: App,
  caller: Principal,
): Promise<{ readonly resource: Resource; readonly mayWrite: boolean }[]> {
  const grants = await loadGrants(db, caller);
  return registry
    .list()
    .filter((one) => one.type === 'dashboard' && mayAccess(grants, one, 'read'))
    .map((resource) => ({
      resource,
      mayWrite: !config.readonly && mayAccess(grants, resource, 'write'),
    }));
}

/** Throws `not-found`, and `unreadable-file` with the line of what is wrong. */
export async function readDashboard(
  services: App,
  caller: Principal,
  resource: Resource,
): Promise<ShownDashboard> {
  const { documents } = services;
  const file = await documents.open(resource);
  await file.close();
  const read = await documents.dashboard(resource);
  return shown(services, caller, resource, read, versionOf(file.stamp));
}

async function shown(
  services: App,
  caller: Principal,
  resource: Resource,
  { dashboard, texts }: ReadDashboard,
  version: string,
): Promise<ShownDashboard> {
  const mayWrite =
    caller.link === undefined &&
    !services.config.readonly &&
    mayAccess(await loadGrants(services.db, caller), resource, 'write');
  const { canonical, rel } = resource;
  return {
    resource: canonical,
    file_name: rel,
    may_write: mayWrite,
    version,
    dashboard,
    texts,
    queries: await panelQueries(services, caller, dashboard),
  };
}

export interface DashboardChange {
  readonly patch: DashboardPatch;
  /** Versions one of which the file must have; null: any. */
  readonly ifMatch: readonly string[] | null;
  /** Says what it would be, and changes nothing. */
  readonly isDryRun: boolean;
}

/**
 * Audited; durable when it resolves. The caller may write the file. Throws `precondition-failed`, `invalid-request`
 * for a patch that does not fit, `locked`, `unreadable-file` for a broken file, and as `replaceFile`; nothing has
 * changed then.
 */
export async function changeDashboard(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  { patch, ifMatch, isDryRun }: DashboardChange,
): Promise<ShownDashboard> {
  const { documents, locks, registry, workers, cache, versions } = services;
  const { rel } = resource;
  const lock = isDryRun
    ? null
    : await locks.acquire({ resource: rel, owner: caller.username, reason: 'write:update' });
  let kept = null as KeptVersion | null;
  let isMade = false;
  try {
    const file = await documents.open(resource);
    const base = file.stamp;
    let baseHash: string | undefined;
    try {
      if (isRacy(base, Date.now())) baseHash = await hashFile(file);
    } finally {
      await file.close();
    }
    requireVersion(resource, versionOf(base), ifMatch);
    const { text, ...made } = await workers.patchDashboard(resource, patch);
    if (lock === null) return await shown(services, caller, resource, made, versionOf(base));
    await documents.replace(resource, {
      base,
      ...(baseHash !== undefined && { baseHash }),
      text,
      beforeCommit: async () => {
        await lock.check();
        const { userId, username } = caller;
        const nextHash = sha256Hex(text);
        kept = await versions.keep(rel, { userId, username, action: 'update', nextHash });
        return kept.stamp;
      },
    });
    isMade = true;
  } finally {
    await kept?.close(isMade);
    await lock?.release();
  }
  cache.drop(rel);
  await registry.refresh([rel]);
  await registry.listed(rel);
  await record(
    services,
    { user: caller, origin },
    'update_dashboard',
    rel,
    `Changed the dashboard: ${patch.length} operation(s)`,
  );
  return readDashboard(services, caller, registry.get(rel) ?? resource);
}

function requireVersion(
  { canonical }: Resource,
  version: string,
  ifMatch: readonly string[] | null,
): void {
  if (ifMatch === null || ifMatch.includes('*') || ifMatch.includes(version)) return;
  throw new AppError('precondition-failed', `Precondition failed: '${canonical}' has changed`, {
    headers: { etag: `"${version}"` },
  });
}
