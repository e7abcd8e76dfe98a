/** What happens with a link after it was made: it is found, opened, counted, and its password checked. */
import type { App } from '../../app.ts';
import { dummyVerify, verifyPassword } from '../../accounts/identity/passwords.ts';
import { findLink, type FoundLink, noteLinkUse } from '../../accounts/rights/links.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { makerOf, type Origin, record } from '../access.ts';
import { filesWithin } from '../files/resources.ts';

/** Null while links are switched off, and for one that no longer works. */
export function findLiveLink(
  { clock, config, db }: Pick<App, 'clock' | 'config' | 'db'>,
  secret: string,
): MaybePromise<FoundLink | null> {
  return config.sharing.links === 'off' ? null : findLink(db, secret, clock.now());
}

/** In the background: a full disk must not keep anybody from reading. */
export function noteOpening(services: App, caller: Principal, origin: Origin): void {
  const { clock, db, log } = services;
  const { link } = caller;
  if (link === undefined) return;
  noteLinkUse(db, link.id, clock.now()).catch((error: unknown) => {
    log.warning('noting the use of a link failed', { error });
  });
  void record(services, { user: caller, origin }, 'open_link', link.resource, 'Opened a link');
}

/** Costs one hash. Throws `throttled` and `unavailable`. */
export async function checkLinkPassword(
  services: App,
  { link, maker }: FoundLink,
  password: string,
  { clientAddress }: Origin,
): Promise<boolean> {
  const source = { username: `link ${link.id}`, address: clientAddress ?? '' };
  const { linkThrottle: throttle } = services;
  throttle.check(source);
  const isRight =
    link.passwordHash === null
      ? await dummyVerify(password)
      : await verifyPassword(password, link.passwordHash);
  if (isRight) {
    // Attempts at the same time may have reached the limit meanwhile.
    throttle.check(source);
    throttle.succeeded(source);
    return true;
  }
  throttle.failed(source);
  await services.audit.record({
    userId: null,
    action: 'link_password_failed',
    resource: link.resource,
    details: `Wrong password for link ${link.id} of ${maker.username}`,
    ipAddress: clientAddress,
  });
  return false;
}

/** What a link for reading shows now: one file, or those of its folder; nothing when its maker may read it no longer. */
export async function openedFiles(
  services: Pick<App, 'db' | 'registry'>,
  { link }: Principal,
): Promise<readonly Resource[]> {
  if (link === undefined || link.kind !== 'read') return [];
  return filesWithin(services, makerOf(link), link.resource);
}
