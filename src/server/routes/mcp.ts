/**
 * `/mcp`: the door for agents (section 21).
 */
import { notAuthenticated } from '../../auth/challenges.ts';
import type { Context } from '../context.ts';
import { answerMessage } from '../mcp/endpoint.ts';
import type { Route } from '../route-table.ts';

/** `/mcp`. Absent from the OpenAPI document (DS-190), so nothing is described. */
export const mcpRoute: Route = {
  pattern: '/mcp',
  // The handshake and the lists are for everybody, unless people sign in elsewhere (DS-177).
  access: 'public',
  neverRedirects: true,
  hasJsonErrors: true,
  refusesForeignOrigin: true,
  // Only the tool that writes is refused (DS-22).
  isExemptFromReadOnly: true,
  isOn: ({ config }) => config.mcp_enabled,
  methods: {
    POST: (context) => {
      if (context.caller === null && context.services.oidc !== null) throw challenge(context);
      return answerMessage(context);
    },
  },
};

/** Leads a client without any credential to the identity provider (RFC 9728). */
function challenge({ services, baseUrl }: Context): Error {
  const base = services.config.oidc.public_url || baseUrl;
  const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
  return notAuthenticated(`Bearer realm="svc", resource_metadata="${metadata}"`);
}
