/**
 * A real OpenID provider as a process of its own: prints its issuer, serves until it is killed.
 *
 * Its argument is JSON (`ProviderSettings`). Any login name with any password signs in; what the person's claims are, the
 * test says with `PUT /test/claims/<login>`.
 */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Provider } from 'oidc-provider';
import type { ProviderSettings } from './openid-provider.ts';

const settings = JSON.parse(process.argv[2]!) as ProviderSettings;
const claims = new Map<string, Record<string, unknown>>();

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: settings.clientId,
      client_secret: settings.clientSecret,
      redirect_uris: [`${settings.publicUrl}/auth/oidc/callback`],
      post_logout_redirect_uris: [`${settings.publicUrl}/auth/login`],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  cookies: { keys: ['only for tests'] },
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups', 'realm_access'] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  findAccount: (_: unknown, sub: string) => ({
    accountId: sub,
    claims: () => ({ preferred_username: sub, ...claims.get(sub), sub }),
  }),
  extraTokenClaims: (_: unknown, token: object) => {
    const sub = 'accountId' in token ? String(token.accountId) : '';
    return { preferred_username: sub, ...claims.get(sub) };
  },
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => settings.publicUrl,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'openid profile',
        audience: settings.publicUrl,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});

const answer = provider.callback();
server.on('request', async (request, response) => {
  const [, login] = /^\/test\/claims\/([^/]+)$/.exec(request.url ?? '') ?? [];
  if (login === undefined) {
    void answer(request, response);
    return;
  }
  claims.set(decodeURIComponent(login), JSON.parse(await bodyOf(request)));
  response.end();
});
console.log(issuer);

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
