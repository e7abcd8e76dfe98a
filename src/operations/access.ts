/**
 * The one place that decides whether a caller may touch a resource (DS-128 to DS-130): permission before existence,
 * so nobody learns which names exist without a right to know.
 */
import type { Audit } from '../auth/audit.ts';
import { type Grants, grantsCover, grantsNameAddressed, loadGrants } from '../auth/permissions.ts';
import type { Caller, Principal, Verb } from '../auth/principal.ts';
import { AppError, notAnswering } from '../base/errors.ts';
import { type Soon, whenThere } from '../base/soon.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import type { Database } from '../store/database.ts';

/** What deciding on a right needs. */
export interface AccessServices {
  readonly db: Database;
  readonly audit: Audit;
  readonly registry: Pick<Registry, 'isOutOfSight'>;
}

/** Where a caller asked from, for the audit. */
export interface Origin {
  readonly clientAddress: string | null;
}

/** The names a permission may use for a resource (DS-129). */
export function permissionNames(resource: Pick<Resource, 'canonical' | 'extensionForm'>): string[] {
  return [resource.canonical, resource.extensionForm];
}

/** True when the caller holds the right on the resource. */
export function mayAccess(grants: Grants, resource: Resource, verb: Verb): boolean {
  return grantsCover(grants, permissionNames(resource), verb);
}

/** What a caller wants to use. */
interface AccessRequest {
  /** The path after the family prefix as typed. */
  readonly name: string;
  /** The whole path, where it might name something too (DS-30). */
  readonly alsoNamed?: string;
  /** What the registry found there. */
  readonly resource: Resource | null;
  readonly verb: Verb;
}

/**
 * The resource, when the caller may use it; at once when his rights are remembered. Throws `not-authenticated`,
 * `not-found` for callers allowed to know, or `unavailable` where nobody can look, and `permission-denied` (audited) for everyone else.
 */
export function requireAccess(
  services: AccessServices,
  caller: Caller,
  origin: Origin,
  request: AccessRequest,
): Soon<Resource> {
  if (!caller) throw new AppError('not-authenticated', 'Not authenticated');
  const { resource, verb } = request;
  return whenThere(loadGrants(services.db, caller), (grants) =>
    resource && mayAccess(grants, resource, verb)
      ? resource
      : refuse(services, caller, origin, grants, request),
  );
}

async function refuse(
  services: AccessServices,
  caller: Principal,
  origin: Origin,
  grants: Grants,
  { name, alsoNamed, verb }: AccessRequest,
): Promise<never> {
  const names = alsoNamed === undefined ? [name] : [name, alsoNamed];
  if (names.some((one) => grantsNameAddressed(grants, one, verb))) {
    // To sync programs and caches, "not found" means that it was deleted.
    if (names.some((one) => services.registry.isOutOfSight(one))) throw notAnswering(name);
    throw new AppError('not-found', 'Not Found');
  }
  await services.audit.record({
    userId: caller.userId,
    action: 'permission_denied',
    resource: name,
    details: verb,
    ipAddress: origin.clientAddress,
  });
  throw new AppError('permission-denied', `Permission denied: ${verb} on ${name}`);
}
