/**
 * The clients people use, against the executable: those of the protocol's own packages in both eras, and the Inspector's
 * command line.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually } from '../http/eventually.ts';
import { found } from '../http/searching.ts';
import { sharedService } from '../http/shared-service.ts';

const shared = sharedService({
  files: {
    'people.csv': 'name,age\nAnna,30\nBo,41\n',
    'notes.md': '# Notes\n\nAbout Anna.\n',
    'dot.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]),
  },
});

const ME = { name: 'test', version: '1' };
let key = '';
beforeAll(async () => {
  key = await shared.service.accounts.apiKey('writer');
  await eventually(async () => expect(await found(shared.reader, 'anna')).toHaveLength(2));
});

/** What all clients have in common. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<object>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(one: { uri: string }): Promise<{ contents: object[] }>;
  listPrompts?(): Promise<object>;
  close(): Promise<void>;
}

const connected: Record<string, () => Promise<AnyClient>> = {
  'the package of the handshake era': async () => {
    const client = new FirstClient(ME);
    await client.connect(new FirstTransport(new URL(`${shared.service.url}/mcp`), withKey()));
    expect(client.getServerVersion()).toMatchObject({ name: 'svc', version: '0.3.0' });
    expect(client.getInstructions()).toContain('list_resources');
    await client.ping();
    return client as unknown as AnyClient;
  },
  'the later package, by handshake': () => later('legacy', '2025-11-25'),
  'the later package, stateless': () => later({ pin: '2026-07-28' }, '2026-07-28'),
  'the later package, asking which': () => later('auto', '2026-07-28'),
};

function withKey() {
  return { requestInit: { headers: { 'X-API-Key': key } } };
}

async function later(
  mode: 'legacy' | 'auto' | { pin: string },
  version: string,
): Promise<AnyClient> {
  const client = new LaterClient(ME, { versionNegotiation: { mode } });
  await client.connect(new LaterTransport(new URL(`${shared.service.url}/mcp/`), withKey()));
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  return client as unknown as AnyClient;
}

describe.each(Object.entries(connected))('%s', (_, connect) => {
  test('lists, calls every tool and reads resources', async () => {
    const client = await connect();
    // After this the clients check every result against the tool's output schema.
    const { tools } = await client.listTools();
    expect(tools.slice(0, 5).map(({ name }) => name)).toEqual([
      'list_resources',
      'get_schema',
      'read_resource',
      'write_resource',
      'search',
    ]);
    const called = async (name: string, given: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: given });
    expect(await called('list_resources')).toMatchObject({
      structuredContent: {
        resources: [{ resource: 'dot' }, { resource: 'notes' }, { resource: 'people' }],
      },
    });
    expect(await called('get_schema', { resource: 'people' })).toMatchObject({
      structuredContent: { primary_key: '_row_id', columns: { age: { type: 'integer' } } },
    });
    expect(
      await called('read_resource', { resource: 'people', filter: { age: { $gt: 40 } } }),
    ).toMatchObject({
      structuredContent: { rows: [{ _row_id: 2, name: 'Bo', age: 41 }], count: 1, total: 1 },
    });
    expect(await called('read_resource', { resource: 'notes' })).toMatchObject({
      structuredContent: { mime_type: 'text/html' },
    });
    expect(await called('read_resource', { resource: 'dot' })).toMatchObject({
      content: [{ type: 'text' }, { type: 'resource_link', uri: 'svc:///dot' }],
      structuredContent: { url: '/dot', size: 6 },
    });
    const change = { resource: 'people', action: 'update', data: { _row_id: 1, age: 31 } };
    expect(await called('write_resource', change)).toMatchObject({
      structuredContent: { row_ids: [1] },
    });
    expect(await called('search', { q: 'anna' })).toMatchObject({
      structuredContent: { count: 2 },
    });
    expect(await called('search_events', { query: 'from people | stats count' })).toMatchObject({
      structuredContent: { rows: [{ count: 2 }] },
    });
    const day = 'from people | head 1 | eval d=strftime("2026-07-01T23:30:00Z","%F") | table d';
    expect(await called('search_events', { query: day, timezone: 'Europe/Berlin' })).toMatchObject({
      structuredContent: { rows: [{ d: '2026-07-02' }] },
    });
    expect(await called('list_saved_searches')).toMatchObject({
      structuredContent: { saved_searches: [] },
    });
    expect(await called('read_resource', { resource: 'nothing' })).toMatchObject({ isError: true });
    await expect(called('no_such_tool')).rejects.toThrow('Unknown tool: no_such_tool');

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'svc:///dot',
      'svc:///notes',
      'svc:///people',
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['svc:///{resource}']);
    const { contents } = await client.readResource({ uri: 'svc:///people' });
    expect(contents).toMatchObject([{ uri: 'svc:///people', mimeType: 'application/json' }]);
    await expect(client.readResource({ uri: 'svc:///nothing' })).rejects.toThrow(
      "Unknown resource: 'nothing'",
    );
    await client.close();
  });
});

describe('the Inspector', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-inspector-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const program = resolve(
    import.meta.dir,
    '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  );
  const inspect = async (...args: string[]): Promise<unknown> => {
    const child = Bun.spawn(
      [
        ...[process.execPath, program, '--cli', `${shared.service.url}/mcp`, '--transport', 'http'],
        ...['--header', `X-API-Key: ${key}`, '--method', ...args],
      ],
      {
        env: { PATH: process.env['PATH'] ?? '', HOME: home, BUN_BE_BUN: '1' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    );
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(stdout + stderr);
    return JSON.parse(stdout);
  };

  test('lists and calls tools, lists and reads resources', async () => {
    expect(await inspect('tools/list')).toMatchObject({ tools: expect.any(Array) });
    expect(
      await inspect(
        'tools/call',
        '--tool-name',
        'read_resource',
        '--tool-arg',
        'resource=people',
        'limit=1',
      ),
    ).toMatchObject({ structuredContent: { count: 1, total: 2 } });
    expect(await inspect('resources/list')).toMatchObject({
      resources: [{ uri: 'svc:///dot' }, { uri: 'svc:///notes' }, { uri: 'svc:///people' }],
    });
    expect(await inspect('resources/templates/list')).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'svc:///{resource}' }],
    });
    expect(await inspect('resources/read', '--uri', 'svc:///notes')).toMatchObject({
      contents: [{ mimeType: 'text/html', text: expect.stringContaining('About Anna') }],
    });
  });
});
