import { Elysia } from 'elysia';
import { notAuthenticated } from '../accounts/identity/refusal.ts';
import type { Context, ServerServices } from '../http/context.ts';
import { lifecycle } from '../http/lifecycle.ts';

/** Bytes; `limits.max_body_bytes` applies too. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Not in the OpenAPI document, so nothing is described. */
export const mcpRoute = new Elysia({ name: 'mcp' }).use(lifecycle).post(
  '/mcp',
  async ({ ask }) => {
    if (ask.caller === null && ask.services.oidc !== null) throw challenge(ask);
    // The package of the protocol takes 8 MB, which a server without agents does not need.
    const { answerMessage } = await import('./server.ts');
    return answerMessage(ask);
  },
  {
    checks: {
      // The handshake and the lists are public, except where users sign in at an identity provider.
      access: 'public',
      neverRedirects: true,
      hasJsonErrors: true,
      refusesForeignOrigin: true,
      // Only the tool that writes is refused.
      isExemptFromReadOnly: true,
      isOn: ({ config }: ServerServices) => config.mcp_enabled,
      body: { maxBytes: MAX_MESSAGE_BYTES },
    },
  },
);

/** Points a client without credentials to the identity provider (RFC 9728). */
function challenge({ services, baseUrl }: Context): Error {
  const base = services.config.oidc.public_url || baseUrl;
  const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
  return notAuthenticated(`Bearer realm="svc", resource_metadata="${metadata}"`);
}
