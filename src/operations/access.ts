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
import type { Caller, Principal, Verb } from '../accounts/rights/principal.ts';
import { AppError, notAnswering } from '../base/errors.ts';
import { type MaybePromise, whenResolved } from '../base/scheduling/maybe-promise.ts';
import type { Resource } from '../docroot/registry/registry.ts';

export interface Origin {
  readonly clientAddress: string | null;
}

/** Who is named in the audit: nobody for the command line, and before a sign-in. */
export interface Actor {
  readonly user: Pick<Principal, 'userId'> | null;
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
  return audit.record({ userId: user?.userId ?? null, action, resource, details, ipAddress });
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
}

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
