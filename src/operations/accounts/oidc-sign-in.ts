import type { App } from '../../app.ts';
import { ANY_CHALLENGE } from '../../accounts/identity/refusal.ts';
import { normalName } from '../../accounts/identity/names.ts';
import type { Oidc } from '../../accounts/oidc/oidc.ts';
import type { ReturnedFlow, StartedFlow } from '../../accounts/oidc/sign-in-flow.ts';
import { AppError } from '../../base/errors.ts';
import { record } from '../access.ts';
import type { Browser, StartedSession } from './sessions.ts';
import { startSession } from './sessions.ts';

/** User names have at most 150 characters; a longer one from the provider matches nobody and is cut for the audit. */
const MAX_SHOWN_NAME = 150;

/** Where to send the browser and what it must bring back. */
export async function startOidcSignIn(services: App): Promise<StartedFlow> {
  return requireOidc(services).flow.start();
}

/** A known person who is refused is audited as `login_failed`. */
export async function finishOidcSignIn(
  services: App,
  browser: Browser,
  returned: ReturnedFlow,
): Promise<StartedSession> {
  const oidc = requireOidc(services);
  const flow = await oidc.flow.finish(returned);
  const vouched = await oidc.vouchFor(flow, browser.clientAddress);
  if (vouched.user === null) {
    if (vouched.username !== null) {
      const shown = normalName(vouched.username).slice(0, MAX_SHOWN_NAME);
      const by = { user: null, origin: browser };
      await record(services, by, 'login_failed', 'auth', `Failed login for user ${shown}`);
    }
    if (vouched.refusal !== null) throw vouched.refusal;
    const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
    throw new AppError('invalid-credentials', 'Invalid credentials', { headers });
  }
  return startSession(services, browser, vouched.user, {
    strength: 'provider',
    details: 'User logged in via OIDC',
    idToken: flow.idToken,
  });
}

/** Sign-out address at the provider, with the ID token of the ended session; null: none. */
export async function oidcSignOutAddress(
  { oidc }: Pick<App, 'oidc'>,
  idToken: string | null,
): Promise<string | null> {
  return oidc === null || idToken === null ? null : oidc.flow.signOutAddress(idToken);
}

function requireOidc({ oidc }: Pick<App, 'oidc'>): Oidc {
  if (oidc === null) throw new AppError('not-found', 'OIDC is not configured');
  return oidc;
}
