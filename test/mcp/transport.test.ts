/**
 * The HTTP side of MCP and its two eras (DS-173 to DS-178), with what hostile clients send (B-N).
 */
import { describe, expect, test } from 'bun:test';
import { sharedService } from '../http/shared-service.ts';
import { startService } from '../support/service.ts';
import { type Answer, HELLO, post, request, stateless } from './messages.ts';

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n' },
  config: { allowed_hosts: ['partner.example'] },
});
const VERSION = 'MCP-Protocol-Version';
const META = 'io.modelcontextprotocol/';

const answerTo = async (body: unknown, headers: Record<string, string> = {}) => {
  const response = await post(shared.reader, body, headers);
  return { status: response.status, ...((await response.json()) as Answer) };
};
const statelessAnswer = (
  method: string,
  params: Record<string, unknown> = {},
  change: (sent: ReturnType<typeof stateless>) => void = () => undefined,
) => {
  const sent = stateless(method, params);
  change(sent);
  return answerTo(sent.body, sent.headers);
};

describe('the endpoint (DS-173)', () => {
  test('answers POST with and without a slash, and 405 to every other method', async () => {
    for (const path of ['/mcp', '/mcp/']) {
      const body = JSON.stringify(request('ping'));
      const response = await shared.reader.fetch(path, { method: 'POST', body });
      expect([response.status, await response.json()]).toEqual([
        200,
        { jsonrpc: '2.0', id: 1, result: {} },
      ]);
      for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH']) {
        const refused = await shared.reader.fetch(path, { method });
        expect([refused.status, refused.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS']);
      }
      const options = await shared.service.fetch(path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('Allow')]).toEqual([204, 'POST, OPTIONS']);
    }
  });

  test('keeps no sessions: gives no id, ignores one (M5)', async () => {
    const response = await post(shared.reader, request('initialize', HELLO), {
      'Mcp-Session-Id': 'of-somebody-else',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('Mcp-Session-Id')).toBeNull();
  });

  test('is 404 for everybody when it is off', async () => {
    await using svc = await startService({ config: { mcp_enabled: false } });
    await svc.createSuperuser('root');
    for (const client of [svc, await svc.as('root')]) {
      for (const method of ['POST', 'GET', 'OPTIONS']) {
        const response = await client.fetch('/mcp', { method });
        expect([response.status, await response.json()]).toEqual([404, { detail: 'Not Found' }]);
      }
    }
    const lists = await (await svc.fetch('/openapi.json')).text();
    expect(lists).not.toContain('/mcp');
  });

  test('takes 4 MiB, answers 413 to more, whether its length is told or not', async () => {
    const sized = (bytes: number) => {
      const frame = JSON.stringify(request('ping', { pad: '' }));
      return frame.replace('"pad":""', `"pad":"${'x'.repeat(bytes - frame.length)}"`);
    };
    const limit = 4 * 1024 * 1024;
    expect((await post(shared.reader, sized(limit))).status).toBe(200);
    const tooLarge = await post(shared.reader, sized(limit + 1));
    expect([tooLarge.status, await tooLarge.json()]).toEqual([
      413,
      { detail: 'Request body too large' },
    ]);
    const chunked = await shared.reader.fetch('/mcp', {
      method: 'POST',
      body: new Blob([sized(limit + 1)]).stream(),
    });
    expect(chunked.status).toBe(413);
  });
});

describe('what is no message (B-N)', () => {
  const cases: readonly (readonly [name: string, body: string, code: number])[] = [
    ['nothing', '', -32700],
    ['no JSON', '{"jsonrpc":', -32700],
    ['a byte order mark', '\ufeff{}', -32700],
    ['nesting without end', '['.repeat(100_000), -32700],
    ['an array', '[]', -32600],
    ['a batch', JSON.stringify([request('ping'), request('ping')]), -32600],
    ['a text', '"ping"', -32600],
    ['null', 'null', -32600],
    ['a number beyond doubles', '1e400', -32600],
    ['an object of nothing', '{}', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600],
    ['an id with a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['parameters by position', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600],
    ['parameters that are a text', '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32600],
  ];
  test.each(cases)('%s is 400', async (_, body, code) => {
    const { status, error, jsonrpc, id } = await answerTo(body);
    expect({ status, code: error?.code, jsonrpc }).toEqual({ status: 400, code, jsonrpc: '2.0' });
    expect(id === null || id === 1).toBe(true);
  });

  test('bytes that are no UTF-8 are 400', async () => {
    const response = await shared.reader.fetch('/mcp', {
      method: 'POST',
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as Answer).error?.code).toBe(-32700);
  });

  test('wrong parameters are −32602, and no answer is ever a 500', async () => {
    const wrong: readonly (readonly [method: string, params: object])[] = [
      ['initialize', {}],
      ['initialize', { protocolVersion: 5 }],
      ['tools/call', {}],
      ['tools/call', { name: 5 }],
      ['tools/call', { name: 'nothing' }],
      ['tools/call', { name: '__proto__' }],
      ['tools/call', { name: 'search', arguments: [1] }],
      ['tools/call', { name: 'search', arguments: null }],
      ['tools/list', { cursor: 'x' }],
      ['resources/list', { cursor: 'x' }],
      ['resources/list', { cursor: 7 }],
      ['resources/list', { cursor: 'W10' }],
      ['resources/read', {}],
      ['resources/read', { uri: 7 }],
      ['resources/read', { uri: 'file:///etc/passwd' }],
      ['resources/read', { uri: 'svc:///%zz' }],
    ];
    for (const [method, params] of wrong) {
      const { status, error } = await answerTo(request(method, params));
      expect([method, status]).toEqual([method, 200]);
      expect([-32602, -32002]).toContain(error?.code ?? 0);
    }
    expect((await answerTo(request('tools/call', { name: 'nothing' }))).error).toEqual({
      code: -32602,
      message: 'Unknown tool: nothing',
    });
  });

  test('what is missing is named, never shown as a dump of a validator', async () => {
    const missing: readonly (readonly [method: string, params: object, text: string])[] = [
      ['initialize', {}, 'protocolVersion: expected string, received undefined'],
      [
        'initialize',
        { ...HELLO, capabilities: undefined },
        'capabilities: expected object, received undefined',
      ],
      [
        'initialize',
        { ...HELLO, clientInfo: { name: 'x' } },
        'clientInfo.version: expected string, received undefined',
      ],
      ['tools/call', {}, 'name: expected string, received undefined'],
      ['resources/read', { uri: 1e400 }, 'uri: expected string, received null'],
      ['ping', { _meta: 7 }, '_meta: expected object, received number'],
      ['tools/list', { _meta: [] }, '_meta: expected object, received array'],
    ];
    for (const [method, params, text] of missing) {
      const { status, error } = await answerTo(request(method, params));
      expect([status, error]).toEqual([200, { code: -32602, message: `Invalid params: ${text}` }]);
    }
  });

  test('a stream of subscriptions is refused, which would hold a connection for anybody', async () => {
    const listen = { notifications: { toolsListChanged: true } };
    expect(await statelessAnswer('subscriptions/listen', listen)).toMatchObject({
      status: 404,
      error: { code: -32601 },
    });
    expect(await answerTo(request('subscriptions/listen', listen))).toMatchObject({
      status: 200,
      error: { code: -32601 },
    });
  });

  test('ids come back as they are, with all their digits', async () => {
    for (const id of ['"x"', '0', '-3', '9007199254740993', '"\\u0000"']) {
      const response = await post(shared.reader, `{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect(await response.text()).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
  });
});

describe('the form of an answer (DS-174)', () => {
  const asked = (accept: string) => post(shared.reader, request('ping'), { Accept: accept });

  test.each([
    'application/json',
    'application/json, text/event-stream',
    'text/event-stream, application/json;q=0.1',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
  ])('is JSON for Accept %s', async (accept) => {
    const response = await asked(accept);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ result: {} });
  });

  test.each(['text/event-stream', 'text/*', 'application/json;q=0, text/event-stream'])(
    'is one event for Accept %s',
    async (accept) => {
      const response = await asked(accept);
      expect(response.headers.get('Content-Type')).toBe('text/event-stream');
      expect(response.headers.get('X-Accel-Buffering')).toBe('no');
      const json = '{"jsonrpc":"2.0","id":1,"result":{}}';
      expect(await response.text()).toBe(`event: message\ndata: ${json}\n\n`);
    },
  );

  test.each([
    'text/html',
    'image/png',
    'application/json;q=0',
    'application/xml, text/event-stream;q=0',
  ])('is 406 for Accept %s', async (accept) => {
    expect((await asked(accept)).status).toBe(406);
  });

  test('stays one event when a schema has line breaks of its own', async () => {
    shared.service.write('.svc/a.schema.json', '{\n"type":"object",\r\n"columns":\n{}}');
    const response = await post(
      shared.reader,
      request('tools/call', { name: 'get_schema', arguments: { resource: 'a' } }),
      { Accept: 'text/event-stream' },
    );
    const text = await response.text();
    expect(text.split('\n')).toHaveLength(4);
    expect(JSON.parse(text.split('\n')[1]!.slice('data: '.length))).toMatchObject({
      result: { structuredContent: { type: 'object', columns: {} } },
    });
  });

  test('is 202 and empty for notifications and answers of the client', async () => {
    const messages = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', method: 'nobody/knows' },
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
    ];
    for (const message of messages) {
      const response = await post(shared.reader, message);
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
    const { id: _, ...notification } = stateless('notifications/cancelled').body;
    const response = await post(shared.reader, notification, { [VERSION]: '2026-07-28' });
    expect([response.status, await response.text()]).toEqual([202, '']);
  });
});

describe('the handshake era (DS-175)', () => {
  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['nonsense', '2025-11-25'],
  ])('a client that asks for %s gets %s', async (asked, agreed) => {
    const { result } = await answerTo(request('initialize', { ...HELLO, protocolVersion: asked }));
    expect(result).toEqual({
      protocolVersion: agreed,
      serverInfo: { name: 'svc', version: '0.3.0' },
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: expect.stringContaining('`list_resources` first'),
    });
  });

  test('has the methods of DS-175, plain results, and 200 for unknown ones', async () => {
    for (const method of [
      'ping',
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
    ]) {
      const { status, result } = await answerTo(request(method));
      expect(status).toBe(200);
      for (const name of ['resultType', 'ttlMs', 'cacheScope', '_meta']) {
        expect(result).not.toHaveProperty(name);
      }
    }
    expect((await answerTo(request('prompts/list'))).result).toEqual({ prompts: [] });
    for (const method of ['server/discover', 'logging/setLevel', 'toString', '']) {
      const { status, error } = await answerTo(request(method));
      expect([status, error?.code]).toEqual([200, -32601]);
    }
  });

  test('accepts its versions in the header, or none, and refuses others', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
      expect((await answerTo(request('ping'), { [VERSION]: version })).status).toBe(200);
    }
    for (const version of ['2024-11-05', 'x', '2099-01-01']) {
      expect(await answerTo(request('ping'), { [VERSION]: version })).toMatchObject({
        status: 400,
        error: {
          code: -32022,
          message: 'Unsupported protocol version',
          data: {
            supported: expect.arrayContaining(['2025-11-25', '2026-07-28']),
            requested: version,
          },
        },
      });
    }
  });
});

describe('the stateless era (DS-175)', () => {
  const COMPLETE = {
    resultType: 'complete',
    _meta: { [`${META}serverInfo`]: { name: 'svc', version: '0.3.0' } },
  };
  const CACHED = { ...COMPLETE, ttlMs: 60_000, cacheScope: 'private' };

  test('says what it is to a client that asks first', async () => {
    expect(await statelessAnswer('server/discover')).toEqual({
      status: 200,
      jsonrpc: '2.0',
      id: 'a',
      result: {
        ...CACHED,
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions: expect.any(String),
      },
    });
  });

  test('marks results as complete, and lists with how long they hold', async () => {
    for (const method of [
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
    ]) {
      expect(await statelessAnswer(method)).toMatchObject({ status: 200, result: CACHED });
    }
    const call = { name: 'list_resources', arguments: {} };
    const { result } = await statelessAnswer('tools/call', call);
    expect(result).toMatchObject({
      ...COMPLETE,
      structuredContent: { resources: [{ resource: 'a' }] },
    });
    expect(result).not.toHaveProperty('ttlMs');
    const read = await statelessAnswer('resources/read', { uri: 'svc:///a' });
    expect(read.result).toMatchObject({ ...COMPLETE, contents: [{ uri: 'svc:///a' }] });
  });

  test('knows no handshake: those methods are 404', async () => {
    for (const method of ['ping', 'nothing', 'logging/setLevel']) {
      const { status, error } = await statelessAnswer(method);
      expect([status, error?.code]).toEqual([404, -32601]);
    }
  });

  test('wants the headers to say what the body says', async () => {
    const call = { name: 'list_resources', arguments: {} };
    const refusals: Record<string, (headers: Record<string, string>) => void> = {
      'no version': (headers) => delete headers[VERSION],
      'another version': (headers) => (headers[VERSION] = '2025-11-25'),
      'no method': (headers) => delete headers['Mcp-Method'],
      'another method': (headers) => (headers['Mcp-Method'] = 'tools/list'),
      'no name': (headers) => delete headers['Mcp-Name'],
      'another name': (headers) => (headers['Mcp-Name'] = 'search'),
      'a name in broken base64': (headers) => (headers['Mcp-Name'] = '=?base64?!?='),
    };
    for (const [name, change] of Object.entries(refusals)) {
      const { status, error } = await statelessAnswer('tools/call', call, ({ headers }) =>
        change(headers),
      );
      expect({ name, status, code: error?.code }).toEqual({ name, status: 400, code: -32020 });
    }
    const wrapped = `=?base64?${Buffer.from('list_resources').toString('base64')}?=`;
    const decoded = await statelessAnswer('tools/call', call, ({ headers }) => {
      headers['Mcp-Name'] = wrapped;
    });
    expect(decoded.status).toBe(200);
  });

  test('wants version and capabilities in _meta', async () => {
    for (const key of ['protocolVersion', 'clientCapabilities']) {
      const answer = await statelessAnswer('tools/list', {}, ({ body }) => {
        delete (body as { params: { _meta: Record<string, unknown> } }).params._meta[META + key];
      });
      expect([answer.status, answer.error?.code]).toEqual([400, -32602]);
    }
    for (const params of [
      undefined,
      {},
      { _meta: 7 },
      { _meta: { [`${META}protocolVersion`]: 7 } },
    ]) {
      const { status, error } = await answerTo(request('tools/list', params), {
        [VERSION]: '2026-07-28',
        'Mcp-Method': 'tools/list',
      });
      expect([status, error?.code]).toEqual([400, -32602]);
    }
  });

  test('names its versions to a client of another one', async () => {
    for (const version of ['2099-01-01', '', '2025-11-25']) {
      const answer = await statelessAnswer('tools/list', {}, ({ body, headers }) => {
        const { _meta } = (body as { params: { _meta: Record<string, unknown> } }).params;
        _meta[`${META}protocolVersion`] = version;
        if (version === '') delete headers[VERSION];
        else headers[VERSION] = version;
      });
      expect(answer).toMatchObject({
        status: 400,
        error: {
          code: -32022,
          message: expect.stringContaining('Unsupported protocol version'),
          data: { supported: ['2026-07-28'], requested: version },
        },
      });
    }
  });
});

describe('where a request comes from (DS-178)', () => {
  test('another host is 421, before anybody is asked who they are (M2)', async () => {
    for (const key of ['', 'ak_wrong']) {
      const response = await post(shared.service, request('ping'), {
        Host: 'evil.example',
        ...(key !== '' && { 'X-API-Key': key }),
      });
      expect(response.status).toBe(421);
    }
  });

  test('another origin is 403, with every credential and without (M1)', async () => {
    const clients = [shared.service, shared.reader, await shared.service.inBrowserAs('reader')];
    for (const client of clients) {
      for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'x']) {
        const response = await post(client, request('ping'), { Origin: origin });
        expect([response.status, await response.json()]).toEqual([
          403,
          { detail: 'Origin not allowed' },
        ]);
      }
      for (const origin of [shared.service.url, 'https://partner.example']) {
        expect((await post(client, request('ping'), { Origin: origin })).status).toBe(200);
      }
    }
  });
});
