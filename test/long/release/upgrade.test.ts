/**
 * State that older builds left behind: this build opens it, brings its schema up to date and keeps all of it; what a newer
 * build left is refused and not touched. The archives are made by state-archive.ts, one for each release.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../build/step.ts';
import { EVENTS_SCHEMA_VERSION } from '../../../src/events/store/schema.ts';
import { newestVersion } from '../../../src/store/migrate.ts';
import { migrations } from '../../../src/store/migrations/index.ts';
import { soon } from '../../http/eventually.ts';
import type { Client, Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import type { TemporaryFolder } from '../../support/temporary-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PASSWORD, STATES, schemaOf, unpackState } from './state-archive.ts';

/** Oldest schema first. */
const archives = readdirSync(STATES)
  .filter((name) => name.endsWith('.tar.gz'))
  .sort();
const newest = newestVersion(migrations);

function serve(folder: TemporaryFolder): Promise<Service> {
  const args = ['--state-dir', folder.at('state')];
  return startService({ docroot: folder.at('docroot'), args });
}

/** A client with a new API key, which the password of before gives; checking a password takes long, a key does not. */
async function signedIn(svc: Service, username: string): Promise<Client> {
  const authorization = `Basic ${btoa(`${username}:${PASSWORD}`)}`;
  const made = await svc.fetch('/api/apikeys', {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ description: 'upgrade' }),
  });
  expect(made.status).toBe(201);
  return svc.withHeaders({ 'X-API-Key': ((await made.json()) as { key: string }).key });
}

test('there are states of more than one schema, and of every release', () => {
  const git = Bun.spawnSync(['git', 'tag', '--list', 'v*'], { cwd: root });
  const tags = git.success ? git.stdout.toString().split('\n').filter(Boolean) : [];
  const releases = tags.map((tag) => tag.slice(1));
  const missing = releases.filter(
    (version) => !archives.some((name) => name.includes(`-${version}+`)),
  );
  expect(missing).toEqual([]);
  expect(archives.length).toBeGreaterThan(2);
});

describe.each(archives)('the state of %s', (archive) => {
  test('is opened, brought up to date, and nothing in it is lost', async () => {
    using folder = temporaryFolder();
    const { told, audit, key } = await unpackState(join(STATES, archive), folder.path);
    const before = schemaOf(folder.at('state/svc.db'));
    await using svc = await serve(folder);
    const superuser = await signedIn(svc, 'root');
    // Twice: a start on what the first one made of it changes nothing any more.
    for (const _ of [1, 2]) {
      for (const [path, answer] of Object.entries(told)) {
        const now = await superuser.fetch(path);
        expect([path, now.status]).toEqual([path, 200]);
        // Members may have come, none may have gone.
        expect(await now.json()).toMatchObject(answer as object);
      }
      const entries = await superuser.fetch('/admin/audit-logs?limit=200');
      const byId = new Map(
        ((await entries.json()) as { id: number }[]).map((entry) => [entry.id, entry]),
      );
      for (const entry of audit) expect(byId.get(entry.id)).toMatchObject(entry);
      const keyHolder = svc.withHeaders({ 'X-API-Key': key });
      expect((await keyHolder.fetch('/api/tea/')).status).toBe(200);
      if ('/admin/users' in told) {
        expect((await keyHolder.fetch('/admin/users')).status).toBe(403);
        expect((await keyHolder.fetch('/api/events/')).status).toBe(200);
        const search = { query: 'index=web | stats count' };
        const found = await superuser.fetch('/search2/api/run/', {
          method: 'POST',
          body: JSON.stringify(search),
        });
        expect(await found.text()).toContain('3');
      }
      await svc.restart();
    }
    expect(schemaOf(folder.at('state/svc.db'))).toBe(newest);
    expect(before).toBeLessThanOrEqual(newest);
    expect(schemaOf(folder.at('state/events.sqlite'))).toBe(EVENTS_SCHEMA_VERSION);
    const checked = await svc.command(['check', svc.docroot, '--state-dir', folder.at('state')]);
    expect([checked.exitCode, checked.stderr]).toEqual([0, '']);
    // What is new goes on after what is old.
    const added = await superuser.fetch('/api/tea/', {
      method: 'POST',
      body: JSON.stringify({ action: 'create', data: [{ tea: 'rooibos', price: 4 }] }),
    });
    expect(await added.json()).toMatchObject({ row_ids: [5] });
  });
});

describe('the state of a newer build', () => {
  const latest = archives.at(-1)!;

  async function newerState(file: string, schema: number): Promise<TemporaryFolder> {
    const folder = temporaryFolder();
    await unpackState(join(STATES, latest), folder.path);
    using db = new Database(folder.at(file));
    db.run(`PRAGMA user_version = ${schema}`);
    return folder;
  }

  test('is refused with both versions and the way out, and not a byte of it changes', async () => {
    using folder = await newerState('state/svc.db', newest + 1);
    const bytes = readFileSync(folder.at('state/svc.db'));
    const refused = await serve(folder).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(refused).toContain(
      `was written by a newer svc (schema ${newest + 1}, this one knows ${newest}): ` +
        'use that version, or restore the backup made before the upgrade',
    );
    expect(readFileSync(folder.at('state/svc.db'))).toEqual(bytes);
  });

  test('of events alone: everything else works, the log says why events do not', async () => {
    using folder = await newerState('state/events.sqlite', EVENTS_SCHEMA_VERSION + 1);
    const bytes = readFileSync(folder.at('state/events.sqlite'));
    await using svc = await serve(folder);
    const superuser = await signedIn(svc, 'root');
    expect((await superuser.fetch('/api/tea/')).status).toBe(200);
    const refused = await superuser.fetch('/api/events/', {
      method: 'POST',
      body: JSON.stringify({ data: 'a' }),
    });
    expect(refused.status).toBe(503);
    await soon(() => svc.stderr()).toContain(
      `its schema ${EVENTS_SCHEMA_VERSION + 1} is of a newer version`,
    );
    expect(readFileSync(folder.at('state/events.sqlite'))).toEqual(bytes);
  });
});
