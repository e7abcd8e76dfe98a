import { notAuthenticated } from '../accounts/identity/refusal.ts';
import type { Context } from '../http/context.ts';
import { answerMessage } from '../mcp/endpoint.ts';
import { MAX_MESSAGE_BYTES } from '../mcp/message.ts';
import type { Route } from '../http/route-table.ts';

/** Not in the OpenAPI document, so nothing is described. */
export const mcpRoute: Route = {
  pattern: '/mcp',
  // The handshake and the lists are public, except where users sign in at an identity provider.
  access: 'public',
  neverRedirects: true,
  hasJsonErrors: true,
  refusesForeignOrigin: true,
  // Only the tool that writes is refused.
  isExemptFromReadOnly: true,
  isOn: ({ config }) => config.mcp_enabled,
  body: { maxBytes: MAX_MESSAGE_BYTES },
  methods: {
    POST: (context) => {
      if (context.caller === null && context.services.oidc !== null) throw challenge(context);
      return answerMessage(context);
    },
  },
};

/** Points a client without credentials to the identity provider (RFC 9728). */
function challenge({ services, baseUrl }: Context): Error {
  const base = services.config.oidc.public_url || baseUrl;
  const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
  return notAuthenticated(`Bearer realm="svc", resource_metadata="${metadata}"`);
}
