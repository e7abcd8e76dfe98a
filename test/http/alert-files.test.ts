/** Alerts in files (DS-292): listed with their lines, run only with the rights of who approved this content. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const DISK = `# who is on call looks here
title: Disk
query: from ops/disk
schedule: every 1h   # often enough
when: {type: value, column: used, more_than: 90}
by: [host]
`;

let svc: Service;
let writer: Client;
let reader: Client;
let root: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'ops/disk.csv': 'host,used\na,95\nb,40\n',
      'ops/secret.csv': 'host,used\nz,99\n',
      'ops/watch.alert.yaml': DISK,
    },
  });
  await svc.accounts.grant('writer', 'ops/watch', 'read', 'write');
  await svc.accounts.grant('writer', 'ops/disk', 'read');
  await svc.accounts.grant('reader', 'ops/*', 'read');
  await svc.accounts.user('root', { superuser: true });
  [writer, reader, root] = (await Promise.all(
    ['writer', 'reader', 'root'].map((name) => svc.as(name)),
  )) as [Client, Client, Client];
});
afterAll(() => svc[Symbol.asyncDispose]());

interface View {
  readonly id: number;
  readonly source: string;
  readonly state: string;
  readonly problem: string | null;
  readonly hash: string;
  readonly owner: string | null;
  readonly may_change: boolean;
}
const viewOf = async (client: Client, source: string): Promise<View> => {
  const { alerts } = (await (await client.fetch('/api/alerts/')).json()) as { alerts: View[] };
  return alerts.find((one) => one.source === source)!;
};
const post = async (client: Client, path: string, body?: unknown) => {
  const answer = await client.fetch(`/api/alerts/${path}`, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as any };
};
const shows = (source: string, expected: object) =>
  eventually(async () => expect(await viewOf(root, source)).toMatchObject(expected));
const WATCH = 'ops/watch.alert.yaml';

describe('DS-292 whose rights', () => {
  test('nobody’s, until one who may write the file approves this very content', async () => {
    await shows(WATCH, { state: 'unapproved', owner: null });
    const { id, hash } = await viewOf(writer, WATCH);
    expect(await viewOf(reader, WATCH)).toMatchObject({ id, may_change: false });
    expect((await post(root, `${id}/run`)).status).toBe(409);
    expect((await post(reader, `${id}/approve`, { hash })).status).toBe(403);
    expect((await post(writer, `${id}/approve`, { hash: 'x' })).status).toBe(409);
    expect((await post(writer, `${id}/approve`, { hash })).body).toMatchObject({
      state: 'on',
      owner: 'writer',
    });
    expect((await post(writer, `${id}/run`)).body).toMatchObject({ state: 'done', fired: 1 });
  });

  test('another content runs for nobody, and the approved one again when it comes back', async () => {
    // Somebody who may write the file tries to read with the rights of who approved it.
    svc.write(WATCH, DISK.replace('from ops/disk', 'from ops/disk | append ops/secret'));
    await shows(WATCH, { state: 'unapproved' });
    const { id } = await viewOf(writer, WATCH);
    expect((await post(writer, `${id}/run`)).status).toBe(409);
    svc.write(WATCH, DISK);
    await shows(WATCH, { state: 'on', owner: 'writer', id });
    rmSync(join(svc.docroot, WATCH));
    await eventually(async () => expect(await viewOf(root, WATCH)).toBeUndefined());
    svc.write(WATCH, DISK);
    await shows(WATCH, { state: 'on', owner: 'writer', id });
  });

  test('what would not run with the rights of who approves is refused', async () => {
    svc.write('ops/other.alert.yaml', DISK.replace('ops/disk', 'ops/secret'));
    await svc.accounts.grant('writer', 'ops/other', 'read', 'write');
    await shows('ops/other.alert.yaml', { state: 'unapproved' });
    const { id, hash } = await viewOf(writer, 'ops/other.alert.yaml');
    const { status, body } = await post(writer, `${id}/approve`, { hash });
    expect([status, body.detail]).toEqual([
      409,
      expect.stringContaining("Unknown dataset 'ops/secret' or no permission"),
    ]);
  });

  test('it is changed in its file, and nowhere else', async () => {
    await shows(WATCH, { state: 'on' });
    const { id } = await viewOf(root, WATCH);
    const put = await root.fetch(`/api/alerts/${id}/`, { method: 'PUT', body: '{}' });
    expect(put.status).toBe(409);
    expect(await put.text()).toContain(`It is defined in '${WATCH}'`);
    expect((await root.fetch(`/api/alerts/${id}/`, { method: 'DELETE' })).status).toBe(409);
    expect((await post(writer, `${id}/disable`)).body.state).toBe('off');
    expect((await post(writer, `${id}/enable`)).body.state).toBe('on');
  });
});

test('DS-292 a broken one is listed with its lines, runs no more, and `svc check` tells it', async () => {
  const broken = DISK.replace('every 1h', '"61 * * * *"').replace('type: value', 'type: vlaue');
  svc.write('ops/bad.alert.yaml', broken);
  const reason =
    /Cannot read 'ops\/bad\.alert\.yaml': line 4: 'schedule' .*minutes are 0-59.*|line 5: 'when\.type' must be one of/;
  await shows('ops/bad.alert.yaml', { state: 'broken', problem: expect.stringMatching(reason) });
  const { problem } = await viewOf(root, 'ops/bad.alert.yaml');
  expect(problem).toContain(
    "line 5: 'when.type' must be one of rows, value, change, no data; did you mean 'value'?",
  );
  const { stdout, stderr } = await svc.command(['check', svc.docroot]);
  expect(stdout + stderr).toContain("line 5: 'when.type'");
});

test.each([
  [
    'title: x\nquery: "*"\nschedule: every 1h\nwhen: {type: no data}\ndeliveries:\n  - type: email\n    to: [a@example.org]\n    text: |\n      one\n      {{alert.nme}}\n',
    /line 10: 'deliveries\.0\.text'.*alert\.nme/,
  ],
  ['title: &x a\nquery: *x\nschedule: every 1h\n', /aliases are not read/],
  ['title: a\n  query: b\n', /line 1: Nested mappings/],
  ['- a\n', /line 1: the alert must be an object/],
])('DS-292 %j is refused with its line', async (text, reason) => {
  const name = `t${Bun.hash(text).toString(36)}.alert.yaml`;
  svc.write(name, text);
  await shows(name, { state: 'broken', problem: expect.stringMatching(reason) });
});

test('DS-292 alerts.file_owner: a folder under version control is the whole configuration', async () => {
  await using other = await startService({
    files: { 'ops/disk.csv': 'host,used\na,95\n', 'ops/watch.alert.yaml': DISK },
    config: { alerts: { file_owner: 'robot' } },
  });
  await other.accounts.user('root', { superuser: true });
  const client = await other.as('root');
  await eventually(async () =>
    expect(await viewOf(client, WATCH)).toMatchObject({
      state: 'unapproved',
      problem: "alerts.file_owner names 'robot', who has no active account",
    }),
  );
  await other.accounts.grant('robot', 'ops/disk', 'read');
  await other.kill();
  await other.start();
  await eventually(async () =>
    expect(await viewOf(client, WATCH)).toMatchObject({ state: 'on', owner: 'robot' }),
  );
  const { id } = await viewOf(client, WATCH);
  expect((await post(client, `${id}/run`)).body).toMatchObject({ state: 'done', fired: 1 });
  expect(
    (await post(client, `${id}/approve`, { hash: (await viewOf(client, WATCH)).hash })).status,
  ).toBe(409);
});
