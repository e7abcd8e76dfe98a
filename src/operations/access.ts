/**
 * Applies what permissions cover (accounts/rights/permissions.ts) to a caller and a name. Permission is checked before
 * existence, so nobody without a right learns which names exist.
 */
import type { App } from '../app.ts';
import type { Audit } from '../accounts/audit/audit.ts';
import {
  type Grants,
  grantsCover,
  grantsNameAddressed,
  loadGrants,
} from '../accounts/rights/permissions.ts';
import type { Caller, LinkGrant, Principal, Verb } from '../accounts/rights/principal.ts';
import { matchesDocument } from '../accounts/rights/resource-names.ts';
import { AppError, notAnswering } from '../base/errors.ts';
import { type MaybePromise, whenResolved } from '../base/scheduling/maybe-promise.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import type { FixedView } from '../tables/read/fixed-view.ts';

export interface Origin {
  readonly clientAddress: string | null;
}

/** Who is named in the audit: nobody for the command line, and before a sign-in. */
export interface Actor {
  readonly user: (Pick<Principal, 'userId'> & Partial<Principal>) | null;
  readonly origin: Origin;
}

/** As `Audit.record`. */
export function record(
  { audit }: { readonly audit: Audit },
  { user, origin }: Actor,
  action: string,
  resource: string,
  details: string,
): Promise<void> {
  const { clientAddress: ipAddress } = origin;
  if (user?.link === undefined) {
    return audit.record({ userId: user?.userId ?? null, action, resource, details, ipAddress });
  }
  const text = `${details} (link ${user.link.id} of ${user.link.maker.username})`;
  return audit.record({ userId: null, action, resource, details: text, ipAddress });
}

export function permissionNames(resource: Pick<Resource, 'canonical' | 'extensionForm'>): string[] {
  return [resource.canonical, resource.extensionForm];
}

export function mayAccess(grants: Grants, resource: Resource, verb: Verb): boolean {
  return grantsCover(grants, permissionNames(resource), verb);
}

interface AccessRequest {
  /** The path after the family prefix, as typed. */
  readonly name: string;
  /** The whole path, where it could name something too. */
  readonly alsoNamed?: string;
  readonly resource: Resource | null;
  readonly verb: Verb;
  /** Absent: nothing for links. `rows`: keeps to `Resource.view`. `file`: gives the bytes away. */
  readonly forLinks?: LinkUse;
}

export type LinkUse = 'rows' | 'file';

/**
 * Synchronous when the caller's rights are cached. Throws `not-authenticated`; for callers allowed to know
 * `not-found`, or `unavailable` when the file system cannot be asked; for all others `permission-denied`, audited.
 */
export function requireAccess(
  services: App,
  caller: Caller,
  origin: Origin,
  request: AccessRequest,
): MaybePromise<Resource> {
  if (!caller) throw new AppError('not-authenticated', 'Not authenticated');
  if (caller.link !== undefined) return linked(services, caller.link, request);
  const { resource, verb } = request;
  return whenResolved(loadGrants(services.db, caller), (grants) =>
    resource && mayAccess(grants, resource, verb)
      ? resource
      : refuse(services, caller, origin, grants, request),
  );
}

async function refuse(
  services: App,
  caller: Principal,
  origin: Origin,
  grants: Grants,
  { name, alsoNamed, verb }: AccessRequest,
): Promise<never> {
  const names = alsoNamed === undefined ? [name] : [name, alsoNamed];
  if (names.some((one) => grantsNameAddressed(grants, one, verb))) {
    // Sync programs and caches would take "not found" for a deletion.
    if (names.some((one) => services.registry.isOutOfSight(one))) throw notAnswering(name);
    throw new AppError('not-found', 'Not Found');
  }
  await record(services, { user: caller, origin }, 'permission_denied', name, verb);
  throw new AppError('permission-denied', `Permission denied: ${verb} on ${name}`);
}

/** What the link and the present rights of its maker leave of a resource. Throws `not-found`, whatever the reason. */
function linked(
  services: Pick<App, 'db'>,
  link: LinkGrant,
  { resource, verb, forLinks }: AccessRequest,
): MaybePromise<Resource> {
  const isMeant =
    resource !== null &&
    verb === 'read' &&
    link.kind === 'read' &&
    forLinks !== undefined &&
    resource.type !== 'handler' &&
    matchesDocument(link.resource, resource.extensionForm, true);
  if (!isMeant) throw nothingThere();
  return whenResolved(loadGrants(services.db, makerOf(link)), (grants) => {
    if (!mayAccess(grants, resource, 'read')) throw nothingThere();
    if (link.view === null) return resource;
    if (forLinks !== 'rows') throw nothingThere();
    return { ...resource, view: JSON.parse(link.view) as FixedView };
  });
}

export function makerOf({ maker }: LinkGrant): Principal {
  const { id: userId, username, isSuperuser } = maker;
  const credential = { credential: 'link', sessionId: null, apiKeyId: null, scopes: null } as const;
  return { userId, username, isSuperuser, ...credential };
}

function nothingThere(): AppError {
  return new AppError('not-found', 'Not Found');
}

/** For long answers: as `requireAccess` for reading, later. */
export async function mayStillRead(
  services: Pick<App, 'db'>,
  caller: Caller,
  resource: Resource,
  forLinks: LinkUse,
): Promise<boolean> {
  const { link } = caller ?? {};
  if (link === undefined) return mayAccess(await loadGrants(services.db, caller), resource, 'read');
  try {
    return (await linked(services, link, { name: '', resource, verb: 'read', forLinks })) !== null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not-found') return false;
    throw error;
  }
}
