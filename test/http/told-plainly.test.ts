/**
 * Mistakes in settings, permissions and requests are told whole and in words that lead to the remedy (DS-6, DS-129,
 * DS-137, DS-196, EV-2).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { run } from '../support/program.ts';
import { rawRequest } from './raw-request.ts';

let service: Service;
let admin: Client;
beforeAll(async () => {
  service = await startService({ files: { 'reports/a.csv': 'n\n1\n', 'b.md': '# B\n' } });
  await service.createSuperuser('root');
  admin = await service.as('root');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const post = async (path: string, body: unknown): Promise<Response> =>
  admin.fetch(path, { method: 'POST', body: JSON.stringify(body) });

test.skipIf(process.platform !== 'linux').each(['/proc/none', '/proc/none/below'])(
  'a state directory that cannot be made, %s, is told in a sentence (F14)',
  async (dir) => {
    const { exitCode, stderr } = await service.command(['check', '--state-dir', dir]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${dir} cannot be made \\(\\w+\\): choose .*\n$`));
  },
);

test('every bad item of a list or map is a finding of its own (DS-196)', async () => {
  const env = {
    SVC_TRUSTED_PROXIES: 'a b,10.0.0.0/8,10.0.0.0/99',
    SVC_PLUGIN_REGISTRY: 'csv=nothing,dat=csv,log=never',
    SVC_EVENTS_SYSLOG: '[{"name":"a b"},{"name":"x","listen":"udp://:5"}]',
    SVC_EVENTS_EXTRACTORS: '[5,{"regex":"x"}]',
    SVC_EVENTS_RETENTION_INDEXES: '{"web":{"max_age_days":-1},"app":5}',
  };
  const { code, err } = await run(['config', service.docroot], { env });
  expect(code).toBe(2);
  const counts = Object.groupBy(err.trim().split('\n'), (line) => line.split(': ')[0]!);
  for (const name of [
    'TRUSTED_PROXIES',
    'PLUGIN_REGISTRY',
    'EVENTS_SYSLOG',
    'EVENTS_EXTRACTORS',
    'EVENTS_RETENTION_INDEXES',
  ])
    expect(counts[`SVC_${name}`], name).toHaveLength(2);
});

describe('a permission on a folder name, which would open nothing', () => {
  test('is refused with the text that opens what lies in it (DS-129, DS-137)', async () => {
    const answer = await post('/admin/permissions', { resource: 'reports/', action: 'read' });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'resource'],
          msg: 'No resource ends in /; what lies in a folder is named reports/*',
          input: 'reports/',
        },
      ],
    });
    const right = await post('/admin/permissions', { resource: 'reports/*', action: 'read' });
    expect(right.status).toBe(200);
  });

  test('and as a scope of a key (DS-118)', async () => {
    const answer = await post('/api/apikeys', { scopes: ['read:reports/'] });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('for a folder <folder>/*');
  });

  test('and on the command line', async () => {
    await service.command(['admin', 'create-group', '--name', 'all']);
    const { exitCode, stderr } = await service.command([
      ...['admin', 'grant', '--group', 'all', '--resource', 'reports/', '--action', 'read'],
    ]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('reports/*');
  });
});

test('TRACE is refused with all that is allowed below its prefix, whatever lies there (DS-6, DS-7)', async () => {
  for (const path of ['/api/reports/a/', '/api/none/', '/b', '/none']) {
    const { status, headers } = await rawRequest(service.url, { method: 'TRACE', path });
    expect(status).toBe(405);
    const changes = path.startsWith('/api/') ? ', POST, PATCH, DELETE' : '';
    expect(headers['allow']).toBe(`GET, HEAD, OPTIONS${changes}`);
  }
});

test('times of HEC and of a bulk request are cut to microseconds, not rounded (EV-2, EV-66, EV-71)', async () => {
  const times = [
    '"1795168800.1234569"',
    '1795168800.1234567',
    '"1.7951688001234567e9"',
    '1795168800',
    '"-0.0000005"',
  ];
  const body = times.map((time) => `{"event":"cut","time":${time}}`).join('');
  expect((await admin.fetch('/services/collector', { method: 'POST', body })).status).toBe(200);
  const bulk = await admin.fetch('/_bulk', {
    method: 'POST',
    body: '{"create":{}}\n{"@timestamp":1795168800123.4567,"m":"cut"}\n',
  });
  expect(bulk.status).toBe(200);
  const list = await admin.fetch('/api/events/?search=cut&ordering=id');
  const events = (await list.json()) as { extracted_fields: { event_time: string } }[];
  expect(events.map((event) => event.extracted_fields.event_time).sort()).toEqual([
    '1969-12-31T23:59:59.999999Z',
    '2026-11-20T10:00:00.000000Z',
    ...Array<string>(4).fill('2026-11-20T10:00:00.123456Z'),
  ]);
});
