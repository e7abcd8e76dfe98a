import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Lru } from '../../base/lru.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../store/database.ts';
import type { Audit } from '../audit/audit.ts';
import type { RefusalReason } from '../identity/refusal.ts';
import type { User } from '../identity/users.ts';
import { admitIdentity, findIdentity, followRoles } from './accounts.ts';
import type { ClaimNames, Identity } from './claims.ts';
import { identityOf } from './claims.ts';
import { Provider } from './provider.ts';
import type { CompletedFlow } from './sign-in-flow.ts';
import { SignInFlow } from './sign-in-flow.ts';
import { TokenVerifier } from './tokens.ts';

/** Accounts whose last roles are cached; for others the next bearer token compares them again. */
const MAX_REMEMBERED = 10_000;

interface OidcOptions {
  readonly settings: Config['oidc'];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
}

/** `refusal` is null where the answer may not tell why. */
type Vouched =
  | { readonly user: User }
  | { readonly user: null; readonly username: string | null; readonly refusal: AppError | null };

export function isOidcOn({ issuer, client_id: clientId }: Config['oidc']): boolean {
  return issuer !== '' && clientId !== '';
}

/** Makes no request to the provider yet. */
export function openOidc(options: OidcOptions): Oidc | null {
  return isOidcOn(options.settings) ? new Oidc(options) : null;
}

export class Oidc {
  readonly flow: SignInFlow;
  readonly #options: OidcOptions;
  readonly #verifier: TokenVerifier;
  /** The roles of the last bearer token, by account. */
  readonly #seenRoles = new Lru<number, string>(MAX_REMEMBERED);

  constructor(options: OidcOptions) {
    const { settings, clock, log } = options;
    const provider = new Provider({ settings, clock, log });
    const verifier = new TokenVerifier({
      provider,
      clientId: settings.client_id,
      audience: settings.audience,
      clock,
    });
    this.#options = options;
    this.#verifier = verifier;
    this.flow = new SignInFlow({ settings, provider, verifier, log });
  }

  async vouchFor(flow: CompletedFlow, clientAddress: string | null): Promise<Vouched> {
    const { settings } = this.#options;
    const identity = identityOf(flow.claims, settings.issuer, this.#names);
    if (identity === null) return { user: null, username: null, refusal: null };
    const second =
      flow.accessClaims === null
        ? null
        : identityOf(flow.accessClaims, settings.issuer, this.#names);
    const whole: Identity = {
      ...identity,
      username: identity.username ?? second?.username ?? null,
      // At sign-in, rights the provider no longer mentions are removed.
      roles: identity.roles ?? second?.roles ?? [],
    };
    const { username } = whole;
    try {
      const user = await this.#admit(whole, clientAddress);
      if (user === null || !user.isActive) return { user: null, username, refusal: null };
      return { user: await this.#follow(user, whole.roles ?? [], clientAddress) };
    } catch (error) {
      if (error instanceof AppError) return { user: null, username, refusal: error };
      throw error;
    }
  }

  async bearer(token: string, clientAddress: string): Promise<{ user: User } | RefusalReason> {
    const { settings, db } = this.#options;
    const claims = await this.#verifier.accessToken(token);
    const identity = claims && identityOf(claims, settings.issuer, this.#names);
    if (!identity) return 'unknown';
    const known = await findIdentity(db, identity);
    const user = known ?? (await this.#admit(identity, clientAddress));
    if (user === null) return 'unknown';
    if (!user.isActive) return 'inactive-user';
    const seen = this.#seenRoles.get(user.id);
    // Many access tokens never mention roles; that must not remove what sign-in granted.
    if (identity.roles === null && seen === undefined) return { user };
    const roles = identity.roles ?? [];
    const shown = JSON.stringify(roles.toSorted());
    if (shown === seen) return { user };
    const followed = await this.#follow(user, roles, clientAddress);
    this.#seenRoles.set(user.id, shown);
    return { user: followed };
  }

  get #names(): ClaimNames {
    const { username_claim: username, groups_claim: groups } = this.#options.settings;
    return { username, groups };
  }

  async #admit(identity: Identity, clientAddress: string | null): Promise<User | null> {
    const { db, settings, clock } = this.#options;
    const admitted = await admitIdentity(db, identity, {
      linksExisting: settings.link_existing,
      now: clock.now(),
    });
    if (admitted === null) return null;
    if (admitted.isNew) {
      const { username } = admitted.user;
      await this.#note('create_user', 'user', `Created user ${username}`, clientAddress);
    }
    return admitted.user;
  }

  async #follow(user: User, roles: readonly string[], clientAddress: string | null): Promise<User> {
    const { db, settings, log } = this.#options;
    const followed = await followRoles(db, user.id, roles, settings.superuser_roles);
    // Deleted at this very moment: the next request is refused.
    if (followed === null) return user;
    const { username } = user;
    if (followed.isLastSuperuser) {
      log.warning('the last active superuser keeps the right the provider took away', {
        user_id: user.id,
      });
    }
    for (const group of followed.joined) {
      const details = `Added user ${username} to group ${group}`;
      await this.#note('add_user_to_group', 'group', details, clientAddress);
    }
    for (const group of followed.left) {
      const details = `Removed user ${username} from group ${group}`;
      await this.#note('remove_user_from_group', 'group', details, clientAddress);
    }
    return followed.user;
  }

  /** Without an actor: the provider decided. */
  async #note(
    action: string,
    resource: string,
    details: string,
    ipAddress: string | null,
  ): Promise<void> {
    await this.#options.audit.record({ userId: null, action, resource, details, ipAddress });
  }
}
