/**
 * MCP where people sign in at an identity provider: who is led there, and who is just refused (DS-177, S-M4).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../support/openid-provider.ts';
import { type Service, startService } from '../support/service.ts';
import { StandInProvider } from '../support/stand-in-provider.ts';
import { ask, call, failure, HELLO, post, request, stateless } from './messages.ts';

let provider: StandInProvider;
let svc: Service;
let address: string;

beforeAll(async () => {
  provider = await StandInProvider.start();
  const port = String(freePort());
  address = `http://127.0.0.1:${port}`;
  svc = await startService({
    files: { 'a.csv': 'n\n1\n', 'b.csv': 'n\n1\n' },
    args: ['--port', port],
    config: { public_url: address, oidc: { issuer: provider.issuer, client_id: 'svc' } },
  });
  await svc.accounts.grantGroup('readers', 'a', 'read');
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

describe('a request without any credential', () => {
  test('is led to the identity provider, whatever it asks (M3)', async () => {
    const { body, headers } = stateless('server/discover');
    const sent: readonly (readonly [unknown, Record<string, string>?])[] = [
      [request('initialize', HELLO)],
      [request('tools/list')],
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
      [body, headers],
      ['no JSON'],
      [request('tools/list'), { Accept: 'text/html' }],
      [request('tools/list'), { Cookie: 'svc_session=of-nobody' }],
    ];
    for (const [message, more] of sent) {
      const response = await post(svc, message, more);
      expect([response.status, await response.json()]).toEqual([
        401,
        { detail: 'Not authenticated' },
      ]);
      expect(response.headers.get('WWW-Authenticate')).toBe(
        `Bearer realm="svc", resource_metadata="${address}/.well-known/oauth-protected-resource/mcp"`,
      );
    }
    const metadata = await svc.fetch('/.well-known/oauth-protected-resource/mcp');
    expect(await metadata.json()).toMatchObject({ resource: `${address}/mcp` });
  });

  test('is told about a foreign origin or host first', async () => {
    expect((await post(svc, request('ping'), { Origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(svc, request('ping'), { Host: 'evil.example' })).status).toBe(421);
    expect((await svc.fetch('/mcp')).status).toBe(405);
  });
});

describe('a credential', () => {
  test('that is wrong is refused without leading anywhere (DS-95)', async () => {
    const tokens = [
      'x',
      await provider.token({ aud: 'https://elsewhere.example', preferred_username: 'ada' }),
    ];
    for (const token of tokens) {
      const response = await post(svc, request('tools/list'), { Authorization: `Bearer ${token}` });
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe(
        'Bearer realm="svc", error="invalid_token"',
      );
    }
    const key = await post(svc, request('tools/list'), { 'X-API-Key': 'ak_wrong' });
    expect(key.headers.get('WWW-Authenticate')).not.toContain('resource_metadata');
  });

  test('of the identity provider has the rights of its groups', async () => {
    const claims = { aud: address, sub: 'm-1', preferred_username: 'ada', groups: ['readers'] };
    const ada = svc.withHeaders({ Authorization: `Bearer ${await provider.token(claims)}` });
    expect((await call(ada, 'read_resource', { resource: 'a' })).structuredContent).toMatchObject({
      total: 1,
    });
    expect(await failure(ada, 'read_resource', { resource: 'b' })).toEndWith(
      "Permission denied: read on 'b'",
    );
  });

  test('of this server works as well: key and session', async () => {
    await svc.accounts.grant('local', 'a', 'read');
    for (const client of [await svc.as('local'), await svc.inBrowserAs('local')]) {
      expect((await ask(client, 'resources/list'))['resources']).toHaveLength(1);
    }
  });
});
