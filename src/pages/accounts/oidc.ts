import { Elysia } from 'elysia';
/**
 * Sign-in through the identity provider, and its metadata for clients. Browsers get every failure as the sign-in page with
 * the reason, so a local password works while the provider is down.
 */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { finishOidcSignIn, startOidcSignIn } from '../../operations/accounts/oidc-sign-in.ts';
import type { Context, ServerServices } from '../../http/context.ts';
import { loginForm } from './login.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply, redirectReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { safeNext, browserOf, sessionStarted } from '../../http/hooks/session.ts';
import type { OperationDescription } from '../../http/operation-description.ts';

const text = (
  description: string,
): { description: string; schema: ReturnType<typeof Type.String> } => ({
  description,
  schema: Type.String(),
});

const startDescription: OperationDescription = {
  summary: 'Sign in through the identity provider',
  tag: 'auth',
  parameters: [
    { name: 'next', in: 'query', ...text('Where to go afterwards: a path of this site') },
  ],
  answers: { 302: { description: 'To the page of the identity provider', schema: null } },
  errors: [404, 502, 503],
};

const returnDescription: OperationDescription = {
  summary: 'Come back from the identity provider',
  tag: 'auth',
  parameters: [
    { name: 'code', in: 'query', ...text('Authorization code') },
    { name: 'state', in: 'query', ...text('The state the sign-in began with') },
    { name: 'iss', in: 'query', ...text('Issuer the answer comes from') },
    { name: 'error', in: 'query', ...text('Why the provider refused') },
  ],
  answers: { 302: { description: 'Signed in: to `next` or the start page', schema: null } },
  errors: [400, 404, 502],
};

const signIn = {
  access: 'public',
  neverRedirects: true,
  isListed: ({ oidc }: ServerServices) => oidc !== null,
} as const;
const metadata = {
  access: 'public',
  hasJsonErrors: true,
  isOn: ({ oidc }: ServerServices) => oidc !== null,
} as const;

export const oidcRoutes = new Elysia({ name: 'oidc' })
  .use(lifecycle)
  .get('/auth/oidc/login', ({ ask }) => orLoginForm(ask, () => start(ask)), {
    checks: signIn,
    describes: startDescription,
  })
  .get('/auth/oidc/callback', ({ ask }) => orLoginForm(ask, () => comeBack(ask)), {
    checks: signIn,
    describes: returnDescription,
  })
  .get('/.well-known/oauth-protected-resource', ({ ask }) => metadataReply(ask), {
    checks: metadata,
  })
  .get('/.well-known/oauth-protected-resource/mcp', ({ ask }) => metadataReply(ask), {
    checks: metadata,
  });

function metadataReply({ services, baseUrl }: Context): Reply {
  const { public_url: publicUrl, issuer, scopes } = services.config.oidc;
  return jsonReply({
    resource: `${publicUrl || baseUrl}/mcp`,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: scopes.split(/\s+/).filter((scope) => scope !== ''),
  });
}

/** While a sign-in is in progress. */
const COOKIES = ['svc_oidc_state', 'svc_oidc_verifier', 'svc_oidc_nonce', 'svc_oidc_next'] as const;

async function start(context: Context): Promise<Reply> {
  const { location, state, verifier, nonce } = await startOidcSignIn(context.services);
  context.setCookie('svc_oidc_state', state);
  context.setCookie('svc_oidc_verifier', verifier);
  context.setCookie('svc_oidc_nonce', nonce);
  const wanted = context.queryValue('next');
  const next = safeNext(wanted);
  // A cookie of an abandoned sign-in must not decide where this one ends.
  if (wanted !== null && next !== '/') context.setCookie('svc_oidc_next', next);
  else if (readCookie(context, 'svc_oidc_next') !== null) context.setCookie('svc_oidc_next', null);
  return redirectReply(location);
}

async function comeBack(context: Context): Promise<Reply> {
  const started = await finishOidcSignIn(context.services, browserOf(context), {
    query: context.query,
    state: readCookie(context, 'svc_oidc_state'),
    verifier: readCookie(context, 'svc_oidc_verifier'),
    nonce: readCookie(context, 'svc_oidc_nonce'),
  });
  const next = safeNext(readCookie(context, 'svc_oidc_next'));
  for (const name of COOKIES) context.setCookie(name, null);
  sessionStarted(context, started);
  return redirectReply(next);
}

async function orLoginForm(context: Context, answer: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof AppError) || error.status === 500 || !context.wantsHtml) throw error;
    const next = safeNext(readCookie(context, 'svc_oidc_next') ?? context.queryValue('next'));
    return loginForm(context, { next, error });
  }
}

/** Null for an absent, empty or malformed one. */
function readCookie(context: Context, name: (typeof COOKIES)[number]): string | null {
  const value = context.cookie(name);
  if (!value) return null;
  try {
    return decodeURIComponent(value);
  } catch {
    // A cookie that this server did not write counts as absent.
    return null;
  }
}
