/** Dashboards: what their files hold, and changing that in place. */
import type { App } from '../../app.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller, Principal, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { DashboardPatch, ReadDashboard } from '../../docroot/dashboard.ts';
import { versionOf } from '../../docroot/documents.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { mayAccess, type Origin, requireAccess } from '../access.ts';
import { putFile } from './file-changes.ts';
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
      mayWrite: !config.readonly && config.files.changes && mayAccess(grants, resource, 'write'),
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
    services.config.files.changes &&
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

/** Without a version to match, a change that meets another one is made again on what that left. */
const MAX_ATTEMPTS = 4;

/**
 * Written and audited as the whole file (file-changes.ts). The caller may write it. Throws `precondition-failed`,
 * `invalid-request` for a patch that does not fit, `unreadable-file` for a broken file, and as `putFile`; nothing has
 * changed then.
 */
export async function changeDashboard(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  { patch, ifMatch, isDryRun }: DashboardChange,
): Promise<ShownDashboard> {
  const { documents, registry, workers, cache } = services;
  const { rel } = resource;
  for (let attempt = 1; ; attempt++) {
    const file = await documents.open(resource);
    await file.close();
    const version = versionOf(file.stamp);
    requireVersion(resource, version, ifMatch);
    const { text, ...made } = await workers.patchDashboard(resource, patch);
    if (isDryRun) return shown(services, caller, resource, made, version);
    const content = Buffer.from(text);
    try {
      await putFile({ services, user: caller, origin }, rel, {
        content: once(content),
        type: '',
        maxBytes: content.length,
        ifMatch: [version],
        isNew: false,
        beforeNaming: async () => {},
      });
      break;
    } catch (error) {
      const isOther = error instanceof AppError && error.code === 'precondition-failed';
      if (!isOther || ifMatch !== null || attempt === MAX_ATTEMPTS) throw error;
    }
  }
  cache.drop(rel);
  await registry.refresh([rel]);
  await registry.listed(rel);
  return readDashboard(services, caller, registry.get(rel) ?? resource);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
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
