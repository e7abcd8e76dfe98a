/**
 * What all administration shares: who may do it, where lists come from, and the entry every change leaves (DS-132,
 * DS-140).
 *
 * An administrator is a superuser who came in through the server, or the operator at the command line, who owns the state
 * directory anyway. The doors check too; here it is checked for the doors that forget.
 */
import type { Audit } from '../auth/audit.ts';
import { notAuthenticated } from '../auth/challenges.ts';
import type { Caller, Principal } from '../auth/principal.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { ExactValues } from '../dataset/list-plan.ts';
import { planList } from '../dataset/list-plan.ts';
import type { Lists } from '../dataset/list-run.ts';
import type { Database } from '../store/database.ts';
import type { ListPage, ListSource } from '../store/list-source.ts';
import type { Origin } from './access.ts';

/** What administration needs. */
export interface AdminServices {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly lists: Lists;
}

/** Who administers. Only `administratorOf` makes one, so to ask for one is to check. */
export interface Administrator {
  /** Null: the operator at the command line. */
  readonly user: Principal | null;
  readonly origin: Origin;
}

/** The operator at the command line. */
export const OPERATOR: Administrator = { user: null, origin: { clientAddress: null } };

/**
 * The caller as an administrator. Throws `not-authenticated`, and `permission-denied` for anybody but a superuser whose
 * credential is not narrowed by scopes (DS-118).
 */
export function administratorOf(caller: Caller, origin: Origin): Administrator {
  if (caller === null) throw notAuthenticated();
  if (caller.scopes !== null) {
    throw new AppError('permission-denied', 'API key scope does not permit this');
  }
  if (!caller.isSuperuser) {
    throw new AppError('permission-denied', 'Superuser privileges required');
  }
  return { user: caller, origin };
}

/** Notes a change that was made. */
export async function recordChange(
  { audit }: Pick<AdminServices, 'audit'>,
  { user, origin }: Administrator,
  change: { readonly action: string; readonly resource: string; readonly details: string },
): Promise<void> {
  await audit.record({
    userId: user?.userId ?? null,
    ...change,
    ipAddress: origin.clientAddress,
  });
}

/** What a list is asked for: its query string, and members that must have exactly these values. */
export interface ListRequest {
  readonly query: URLSearchParams;
  readonly exact?: ExactValues;
}

/** A page of a list. Throws as `planList`, and `timed-out` for a filter that takes too long. */
export async function readList(
  { lists }: Pick<AdminServices, 'lists'>,
  _admin: Administrator,
  source: ListSource,
  { query, exact }: ListRequest,
): Promise<ListPage> {
  return lists.read(planList(source, query, exact));
}
