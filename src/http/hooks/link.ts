/**
 * Requests below `/s/<secret>`: the link is their only credential, and cookies, keys and tokens that come along count for
 * nothing. Which routes take links stands in their rules; what a link opens is decided by operations/access.ts.
 */
import { createHmac } from 'node:crypto';
import { notAuthenticated } from '../../accounts/identity/refusal.ts';
import { secretsEqual } from '../../accounts/identity/secret-compare.ts';
import { type FoundLink, type Link, linkPrincipal } from '../../accounts/rights/links.ts';
import { AppError } from '../../base/errors.ts';
import { setCurrentPerson } from '../../base/scheduling/current-person.ts';
import { findLiveLink, noteOpening } from '../../operations/accounts/link-use.ts';
import type { Context } from '../context.ts';
import { isSafeMethod, readOnlyMode } from '../route.ts';
import { LINK_FRONT } from './request-target.ts';

/** One text for all reasons: nobody learns which links there were. */
const DEAD =
  'This link does not work: it was withdrawn, its time is over, or whoever made it may not read what it showed.';

const VIEW_PARAMETERS: ReadonlySet<string> = new Set(['limit', 'offset', 'format']);
/** Of files that are shared as a whole. Anything else, also what later versions know, is refused. */
const FILE_PARAMETERS: ReadonlySet<string> = new Set(
  'limit offset format cursor sort order filter q columns pinned values chart x y measure row summary type column download metadata thumbnail raw source where is value by way'.split(
    ' ',
  ),
);

export function deadLink(): AppError {
  return new AppError('not-found', DEAD);
}

/** Throws `not-found` for a link that is over, `not-authenticated` for one whose password is missing. */
export async function admitLink(context: Context, secret: string): Promise<void> {
  const { origin, rules, services } = context;
  const found = await findLiveLink(services, secret);
  if (found === null) throw deadLink();
  if (rules.takesLinks !== true) {
    throw new AppError('permission-denied', 'A link opens only what it was made for');
  }
  setCurrentPerson(`link:${found.link.id}`);
  const isFront = context.path === LINK_FRONT;
  if (!isFront && !isSafeMethod(context.method)) {
    throw new AppError('permission-denied', 'Through a link nothing is changed');
  }
  if (!isSafeMethod(context.method) && services.config.readonly && found.link.kind === 'upload') {
    throw readOnlyMode();
  }
  if (isUnlocked(context, found.link)) context.caller = linkPrincipal(found);
  if (isFront) return;
  if (context.caller === null) {
    throw notAuthenticated('Link', { credential: 'link', reason: 'unknown' });
  }
  requireOwnParameters(context, found);
  if (!isFollowUp(context)) noteOpening(services, context.caller, origin);
}

export async function isLinkAlive(context: Context, secret: string): Promise<boolean> {
  const found = await findLiveLink(context.services, secret);
  if (found === null) return context.caller === null;
  return isUnlocked(context, found.link) === (context.caller !== null);
}

/** A page's own requests: one opening is counted once. */
export function isFollowUp(context: Context): boolean {
  return context.request.headers.get('sec-fetch-site') === 'same-origin';
}

function requireOwnParameters(context: Context, { link }: FoundLink): void {
  const taken = link.view === null ? FILE_PARAMETERS : VIEW_PARAMETERS;
  const other = [...context.query.keys()].find((name) => !taken.has(name));
  if (other === undefined) return;
  const names = [...VIEW_PARAMETERS].join(', ');
  throw new AppError(
    'invalid-query',
    link.view === null
      ? `Through this link nothing is asked by '${other.slice(0, 100)}'`
      : `This link shows one fixed view: only ${names} can be chosen, not '${other.slice(0, 100)}'`,
  );
}

function isUnlocked(context: Context, link: Link): boolean {
  if (link.passwordHash === null) return true;
  const sent = context.cookie('svc_link');
  return sent !== null && secretsEqual(sent, unlockProof(context, link));
}

export function unlock(context: Context, link: Link): void {
  context.setCookie('svc_link', unlockProof(context, link));
}

/** Void with another password. */
function unlockProof({ services }: Context, { id, passwordHash }: Link): string {
  return createHmac('sha256', services.serverSecret)
    .update(`link ${id} ${passwordHash}`)
    .digest('base64url');
}

/** The address is the secret: it goes to no other site, no search engine and no shared cache. */
export function keepLinkPrivate(headers: Headers): void {
  headers.set('Referrer-Policy', 'no-referrer');
  headers.set('X-Robots-Tag', 'noindex, nofollow, noarchive');
  const cached = headers.get('Cache-Control');
  if (cached !== null) headers.set('Cache-Control', cached.replace(/\bpublic\b/, 'private'));
}
