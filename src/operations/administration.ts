/**
 * Shared by all administration. An administrator is a superuser, or the operator at the command line. Routes check this
 * too; the check here covers a route that forgets to.
 */
import type { AccountsApp } from '../app.ts';
import { notAuthenticated } from '../accounts/identity/refusal.ts';
import type { Caller, Principal } from '../accounts/rights/principal.ts';
import { AppError } from '../base/errors.ts';
import type { ExactValues } from '../tables/read/list-plan.ts';
import { planList } from '../tables/read/list-plan.ts';
import type { ListPage, ListSource } from '../store/list-source.ts';
import type { Actor, Origin } from './access.ts';

/** Only `administratorOf` makes one, so requiring it as a parameter is the check. */
export interface Administrator extends Actor {
  readonly user: Principal | null;
}

export const OPERATOR: Administrator = { user: null, origin: { clientAddress: null } };

/** Throws `not-authenticated`, and `permission-denied` for anyone but a superuser with a credential without scopes. */
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

/** `exact`: members that must have exactly these values. */
export interface ListRequest {
  readonly query: URLSearchParams;
  readonly exact?: ExactValues;
}

/** Reads a list. Throws as `planList`, and `timed-out` for a filter that takes too long. */
export function listOf<Services extends Pick<AccountsApp, 'lists'>>(
  source: ListSource | ((services: Services) => ListSource),
) {
  return async (
    services: Services,
    _admin: Administrator,
    { query, exact }: ListRequest,
  ): Promise<ListPage> =>
    services.lists.read(
      planList(typeof source === 'function' ? source(services) : source, query, exact),
    );
}

const PROPOSED_NAMES = 50;

export function firstNames(list: ReturnType<typeof listOf<AccountsApp>>, name: string) {
  return async (services: AccountsApp, admin: Administrator): Promise<string[]> => {
    const query = new URLSearchParams({ limit: String(PROPOSED_NAMES), sort: name });
    const { items } = await list(services, admin, { query });
    return items.map((item) => String(item[name]));
  };
}
