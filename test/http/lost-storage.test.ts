/**
 * A folder of the document root whose disk or share goes away and comes back: what cannot be looked at is not gone (DS-33,
 * DS-34), and what comes back unchanged has the row ids it had (DS-48).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { create, remove } from './changes.ts';
import { eventually } from './eventually.ts';

const ROWS = 'n\n10\n20\n30\n40\n';
/** Of ROWS after its second row was deleted and one was added. */
const EDITED = [1, 3, 4, 5];

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

interface Site {
  readonly service: Service;
  readonly user: Client;
  /** Folder of the "disk", outside of the document root. */
  readonly disk: string;
  /** Where it is mounted. */
  readonly point: string;
}

async function startSite(): Promise<Site> {
  const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  for (const name of ['rows.csv', 'shared.csv']) writeFileSync(join(disk, name), ROWS);
  writeFileSync(join(disk, 'page.md'), '# On the disk\n');
  const service = await startService({ files: { 'local.csv': ROWS } });
  mkdirSync(join(service.docroot, 'disk'));
  await service.accounts.grant('ed', '*', 'read', 'write');
  const user = await service.as('ed');
  return { service, user, disk, point: join(service.docroot, 'disk') };
}

async function rowIds(user: Client, name: string): Promise<unknown> {
  const answer = await user.fetch(`/api/${name}/`);
  if (answer.status !== 200) return answer.status;
  return ((await answer.json()) as { _row_id: number }[]).map(({ _row_id }) => _row_id);
}

async function editRows(user: Client, name: string): Promise<void> {
  expect((await remove(user, name, 2)).status).toBe(200);
  expect((await create(user, name, [{ n: 50 }])).status).toBe(200);
}

const warnings = (service: Service) => service.stderr().match(/cannot be looked at/g)?.length ?? 0;

describe('a disk that is unmounted', () => {
  let site: Site;
  let isAllowed = false;
  const mount = () => run('mount', '--bind', site.disk, site.point);
  const unmount = () => run('umount', '-l', site.point);
  beforeAll(async () => {
    site = await startSite();
    isAllowed = mount();
    if (!isAllowed) console.log('left out: mounting a folder is not allowed here');
  });
  afterAll(async () => {
    unmount();
    await site.service[Symbol.asyncDispose]();
    rmSync(site.disk, { recursive: true, force: true });
  });

  test('is gone while it is, and comes back with the row ids of its files (DS-33, DS-48)', async () => {
    if (!isAllowed) return;
    const { user } = site;
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toHaveLength(4));
    await editRows(user, 'disk/rows');
    await editRows(user, 'local');
    unmount();
    await eventually(async () => expect((await user.fetch('/disk/page')).status).toBe(404));
    expect(await rowIds(user, 'disk/rows')).toBe(404);
    expect(await rowIds(user, 'local')).toEqual(EDITED);
    mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual(EDITED));
    expect((await user.fetch('/disk/page')).status).toBe(200);
  });

  test('also when it is away for a moment, again and again', async () => {
    if (!isAllowed) return;
    const { user } = site;
    for (const pause of [0, 1, 20, 60, 150, 390, 410]) {
      unmount();
      await Bun.sleep(pause);
      mount();
      await eventually(async () => expect(await rowIds(user, 'disk/rows')).not.toBe(404));
      expect(await rowIds(user, 'disk/rows')).toEqual(EDITED);
    }
  });

  test('also when the service starts before it is mounted', async () => {
    if (!isAllowed) return;
    const { service, user } = site;
    unmount();
    await service.restart();
    expect(await rowIds(user, 'disk/rows')).toBe(404);
    await service.restart();
    mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual(EDITED));
  });

  test('a file that was changed meanwhile is numbered anew (DS-49)', async () => {
    if (!isAllowed) return;
    const { user } = site;
    unmount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toBe(404));
    writeFileSync(join(site.disk, 'rows.csv'), ROWS);
    mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual([1, 2, 3, 4]));
  });

  test('keeps no copy of a file that was deleted on it while it was away, or while anything was mounted', async () => {
    if (!isAllowed) return;
    const { service, user } = site;
    const copies = () =>
      readdirSync(join(service.stateDir, 'tables')).filter((name) => name.endsWith('.sqlite'));
    writeFileSync(join(site.disk, 'secret.csv'), ROWS);
    await eventually(async () => expect(await rowIds(user, 'disk/secret')).toHaveLength(4));
    const before = copies().length;
    unmount();
    await eventually(async () => expect(await rowIds(user, 'disk/secret')).toBe(404));
    expect(copies()).toHaveLength(before);
    rmSync(join(site.disk, 'secret.csv'));
    mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toHaveLength(4));
    await eventually(() => expect(copies()).toHaveLength(before - 1));

    writeFileSync(join(site.disk, 'secret.csv'), ROWS);
    await eventually(async () => expect(await rowIds(user, 'disk/secret')).toHaveLength(4));
    expect(copies()).toHaveLength(before);
    const elsewhere = mkdtempSync(join(tmpdir(), 'svc-elsewhere-'));
    run('mount', '--bind', elsewhere, elsewhere);
    try {
      rmSync(join(site.disk, 'secret.csv'));
      await eventually(async () => expect(await rowIds(user, 'disk/secret')).toBe(404));
      await eventually(() => expect(copies()).toHaveLength(before - 1));
      expect(await rowIds(user, 'disk/rows')).toHaveLength(4);
    } finally {
      run('umount', '-l', elsewhere);
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
});

describe('a share whose server has died', () => {
  let site: Site;
  let isAllowed = false;
  let share: ReturnType<typeof Bun.spawn> | null = null;
  const isThere = () => existsSync(join(site.point, 'rows.csv'));
  const mount = async () => {
    const started = Bun.spawn(['bindfs', '-f', site.disk, site.point], { stderr: 'ignore' });
    share = started;
    await eventually(() => expect(isThere() || started.exitCode !== null).toBe(true));
    return isThere();
  };
  const die = async () => {
    share?.kill('SIGKILL');
    await share?.exited;
  };
  beforeAll(async () => {
    site = await startSite();
    if (run('mount', '--bind', site.disk, site.point)) {
      await eventually(async () => expect(await rowIds(site.user, 'disk/rows')).toHaveLength(4));
      await editRows(site.user, 'disk/rows');
      run('umount', '-l', site.point);
      isAllowed = Bun.which('bindfs') !== null && (await mount());
    }
    if (!isAllowed) console.log('left out: bindfs cannot mount a folder here');
  });
  afterAll(async () => {
    await die();
    run('umount', '-l', site.point);
    await site.service[Symbol.asyncDispose]();
    rmSync(site.disk, { recursive: true, force: true });
  });

  test('is written to as a disk of its own while it answers (DS-48, DS-84)', async () => {
    if (!isAllowed) return;
    await eventually(async () => expect(await rowIds(site.user, 'disk/shared')).toHaveLength(4));
    await editRows(site.user, 'disk/shared');
    expect(await rowIds(site.user, 'disk/shared')).toEqual(EDITED);
  });

  test('does not answer: 503, told once; what is known of it stays, the rest works', async () => {
    if (!isAllowed) return;
    const { user, service } = site;
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual(EDITED));
    await editRows(user, 'local');
    await die();
    await eventually(() => expect(warnings(service)).toBe(1));
    // What was asked of the share a moment ago the system still knows for a second.
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toBe(503));
    await eventually(async () => expect((await user.fetch('/disk/page')).status).toBe(503));
    for (const path of ['/api/disk/rows/', '/schema/disk/rows', '/ui/disk/rows', '/disk/page']) {
      const answer = await user.fetch(path);
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(await answer.json()).toMatchObject({
        detail: expect.stringMatching(
          /^The storage of 'disk\/(rows.csv|page.md)' does not answer$/,
        ),
      });
    }
    const changed = await user.fetch('/api/disk/rows/', { method: 'POST', body: '[{"n":1}]' });
    expect(changed.status).toBe(503);
    expect(await rowIds(user, 'local')).toEqual(EDITED);
    const listed = await (await user.fetch('/')).text();
    expect(listed).toContain('disk/rows');
    service.write('late.csv', ROWS);
    await eventually(async () => expect(await rowIds(user, 'late')).toHaveLength(4));
    expect(warnings(service)).toBe(1);
    expect((await service.command(['check', service.docroot])).stdout).toContain(
      'disk: the storage does not answer (ENOTCONN)',
    );
  });

  test('a name that is not known there is refused alike, to whoever may know', async () => {
    if (!isAllowed) return;
    const { user, service } = site;
    await service.accounts.grant('fay', 'local', 'read');
    expect((await user.fetch('/api/disk/other/')).status).toBe(503);
    expect((await user.fetch('/disk/other')).status).toBe(503);
    expect((await user.fetch('/api/other/')).status).toBe(404);
    expect((await (await service.as('fay')).fetch('/api/disk/other/')).status).toBe(403);
  });

  test('its files have their row ids when it answers again, also after a start without it', async () => {
    if (!isAllowed) return;
    const { user, service } = site;
    run('umount', '-l', site.point);
    await mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual(EDITED));
    expect(await rowIds(user, 'disk/shared')).toEqual(EDITED);
    await eventually(() => expect(service.stderr()).toContain('can be looked at again'));
    await die();
    await service.restart();
    expect(await rowIds(user, 'disk/rows')).toBe(503);
    run('umount', '-l', site.point);
    await mount();
    await eventually(async () => expect(await rowIds(user, 'disk/rows')).toEqual(EDITED));
  });
});

test.skipIf(process.getuid?.() === 0)(
  'a folder without the right to enter it for a moment keeps what is known of it',
  async () => {
    await using service = await startService({ files: { 'folder/rows.csv': ROWS } });
    await service.accounts.grant('ed', '*', 'read', 'write');
    const user = await service.as('ed');
    await editRows(user, 'folder/rows');
    const folder = join(service.docroot, 'folder');
    chmodSync(folder, 0);
    try {
      service.write('other.csv', ROWS);
      await eventually(async () => expect(await rowIds(user, 'other')).toHaveLength(4));
      const answer = await user.fetch('/api/folder/rows/');
      expect([answer.status, await answer.json()]).toEqual([
        422,
        { detail: "Cannot read 'folder/rows.csv': permission denied" },
      ]);
    } finally {
      chmodSync(folder, 0o755);
    }
    expect(await rowIds(user, 'folder/rows')).toEqual(EDITED);
  },
);
