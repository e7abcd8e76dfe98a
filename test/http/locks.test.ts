/**
 * File locks as clients meet them (DS-89 to DS-92), and files that the file system keeps from being written (DS-85).
 *
 * Foreign holders are rows put straight into the state database; a lock that is lost at a certain moment is a trigger.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timestamp } from '../../src/base/clock.ts';
import type { Service } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  auditAfter,
  bytesOf,
  create,
  currentTag,
  lastAuditId,
  locksOn,
  remove,
  update,
  versionOf,
  writeState,
} from './changes.ts';
import { eventually } from './eventually.ts';
import { list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const TIMEOUT_SECONDS = 1;

const shared = sharedService(
  {
    files: {
      'a.csv': 'n,t\n1,x\n2,y\n',
      'b.csv': 'n\n1\n',
      'lost.csv': 'n\n1\n',
      'kept.csv': 'n\n1\n',
      'large.csv': `n,t\n${`1,${'x'.repeat(60)}\n`.repeat(200_000)}`,
      'fixed.csv': 'n\n1\n',
      'folder/inside.csv': 'n\n1\n',
      'small/full.csv': 'n,t\n1,x\n',
    },
    config: { locks: { timeout_seconds: TIMEOUT_SECONDS } },
  },
  /"path":"\/api\/disk\/full\/","status":507/,
);

/** One whose waiting time never ends in a test. */
const patient = sharedService({
  files: { 'a.csv': 'n,t\n1,x\n2,y\n' },
  config: { locks: { timeout_seconds: 300 } },
});

const writer = () => shared.writer;

/** A lock row of somebody else; expires in so many seconds, which may be negative. */
async function hold(
  rel: string,
  expiresIn: number,
  owner = 'mallory',
  service = shared.service,
): Promise<number> {
  const now = Date.now();
  const { lastId } = await service.accounts.db.run(
    'INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, ?, ?, ?, ?)',
    [rel, owner, timestamp(now - 5_000), timestamp(now + expiresIn * 1000), 'write:update'],
  );
  return lastId;
}

afterEach(async () => {
  await shared.service.accounts.db.run('DELETE FROM locks');
});

async function free(rel: string, service = shared.service): Promise<void> {
  await service.accounts.db.run('DELETE FROM locks WHERE resource = ?', [rel]);
}

/** Runs a statement of the state database until the end of the work. */
async function withTrigger<T>(sql: string, work: () => Promise<T>): Promise<T> {
  const { db } = shared.service.accounts;
  await db.run(`CREATE TRIGGER of_a_test ${sql}`);
  try {
    return await work();
  } finally {
    await db.run('DROP TRIGGER of_a_test');
  }
}

function temporaryFiles(service: Service): string[] {
  const names = readdirSync(service.docroot, { recursive: true }) as string[];
  return names.filter((name) => /(^|\/)\.(?!svc)|\.tmp$/.test(name) && !name.startsWith('.svc/'));
}

describe('a file that somebody else holds (DS-90)', () => {
  test.each([3_600, 20])(
    'for %d s more is refused after the waiting time, with a Retry-After of the time that is left, at most 30',
    async (seconds) => {
      const { service } = shared;
      const before = writeState(service, 'a.csv');
      const audit = await lastAuditId(service);
      const expiresAt = Date.now() + seconds * 1_000;
      const id = await hold('a.csv', seconds);
      const start = performance.now();
      const { status, detail, headers } = await update(writer(), 'a', { _row_id: 1, n: 5 });
      expect({ status, detail }).toEqual({
        status: 409,
        detail: "Resource 'a.csv' is locked by mallory",
      });
      expect(performance.now() - start).toBeGreaterThanOrEqual(TIMEOUT_SECONDS * 1000 - 20);
      const least = Math.floor((expiresAt - Date.now()) / 1_000);
      const retryAfter = Number(headers.get('Retry-After'));
      expect(retryAfter).toBeGreaterThanOrEqual(Math.min(least, 30));
      expect(retryAfter).toBeLessThanOrEqual(Math.min(seconds - TIMEOUT_SECONDS + 1, 30));
      expect(writeState(service, 'a.csv')).toEqual(before);
      expect(await auditAfter(service, audit)).toEqual([]);
      expect(await locksOn(service, 'a.csv')).toMatchObject([{ id, owner: 'mallory' }]);
      await free('a.csv');
    },
  );

  test('is still read, and other files are still written (DS-89)', async () => {
    await hold('a.csv', 60);
    const waiting = update(writer(), 'a', { _row_id: 1, n: 6 });
    expect((await list(writer(), 'a')).rows.length).toBe(2);
    expect((await create(writer(), 'b', [{ n: 2 }])).status).toBe(200);
    expect((await waiting).status).toBe(409);
  });

  test('is written as soon as the lock goes away within the waiting time', async () => {
    const { service } = patient;
    await hold('a.csv', 600, 'mallory', service);
    const waiting = update(patient.writer, 'a', { _row_id: 1, n: 7 });
    // In the middle of the waiting: what is awaited here is that the change does not come through.
    expect(await Promise.race([waiting, Bun.sleep(250).then(() => 'still waiting')])).toBe(
      'still waiting',
    );
    await free('a.csv', service);
    expect((await waiting).status).toBe(200);
    expect(await locksOn(service, 'a.csv')).toEqual([]);
  });

  test('holds up several clients, who all hear of it', async () => {
    await hold('a.csv', 60);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        update(writer(), 'a', { _row_id: 1, n: 100 + index }),
      ),
    );
    for (const { status, detail } of answers) {
      expect({ status, detail }).toEqual({
        status: 409,
        detail: "Resource 'a.csv' is locked by mallory",
      });
    }
  });

  test('also keeps off a change that would write nothing, and a stale If-Match (DS-8)', async () => {
    await hold('a.csv', 60);
    const answers = await Promise.all([
      create(writer(), 'a', []),
      update(writer(), 'a', { _row_id: 1, n: 8 }, { 'If-Match': '"stale"' }),
      remove(writer(), 'a', 4711),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  });

  test('does not hold up what is refused before any lock (DS-75)', async () => {
    await hold('a.csv', 600, 'mallory', patient.service);
    const answers = await Promise.all([
      create(patient.writer, 'a', [{ nope: 1 }]),
      update(patient.writer, 'a', { _row_id: 1, n: 'x' }),
      update(patient.writer, 'a', { n: 1 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422]);
    await free('a.csv', patient.service);
  });

  test('is named by its file, its holder as stored', async () => {
    await hold('folder/inside.csv', 60, "o'hara <b>");
    const { detail } = await create(writer(), 'folder/inside', [{ n: 1 }]);
    expect(detail).toBe("Resource 'folder/inside.csv' is locked by o'hara <b>");
  });
});

test('an expired lock is taken over at once (DS-90)', async () => {
  // Were it taken for one that is held, the answer would be a long time coming.
  const id = await hold('a.csv', -1, 'mallory', patient.service);
  expect((await update(patient.writer, 'a', { _row_id: 1, n: 8 })).status).toBe(200);
  expect(await locksOn(patient.service, 'a.csv')).toEqual([]);
  expect(id).toBeGreaterThan(0);
});

test('a lock names resource, owner and reason while it is held, and lives for its TTL (DS-89)', async () => {
  const { service } = shared;
  const { db } = service.accounts;
  await db.run('CREATE TABLE seen_locks AS SELECT * FROM locks WHERE 0');
  await withTrigger(
    'AFTER INSERT ON locks BEGIN INSERT INTO seen_locks SELECT * FROM locks WHERE id = NEW.id; END',
    async () => {
      const [id = 0] = (await create(writer(), 'kept', [{ n: 2 }])).rowIds;
      await update(writer(), 'kept', { _row_id: id, n: 3 });
      await remove(writer(), 'kept', id);
    },
  );
  const seen = await db.all<Record<string, string>>('SELECT * FROM seen_locks ORDER BY id');
  await db.run('DROP TABLE seen_locks');
  expect(seen.map(({ resource, owner, reason }) => ({ resource, owner, reason }))).toEqual(
    ['write:create', 'write:update', 'write:delete'].map((reason) => ({
      resource: 'kept.csv',
      owner: 'writer',
      reason,
    })),
  );
  for (const { acquired_at: from = '', expires_at: to = '' } of seen) {
    expect(from).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(to) - Date.parse(from)).toBe(300_000);
  }
  expect(await locksOn(service, 'kept.csv')).toEqual([]);
});

test.each(['create', 'update', 'delete'] as const)(
  'others see the lock of write:%s in the list while a large file is written (DS-89)',
  async (action) => {
    const change = {
      create: () => create(writer(), 'large', [{ n: 2 }]),
      update: () => update(writer(), 'large', { _row_id: 7, n: 3 }),
      delete: () => remove(writer(), 'large', 8),
    }[action];
    let isDone = false;
    const changing = change().finally(() => (isDone = true));
    const seen = new Set<string>();
    while (!isDone) {
      const answer = await shared.superuser.fetch('/admin/locks');
      for (const one of (await answer.json()) as Record<string, string>[])
        seen.add(`${one['resource']} ${one['owner']} ${one['reason']}`);
    }
    expect((await changing).status).toBe(200);
    expect([...seen]).toEqual([`large.csv writer write:${action}`]);
  },
);

describe('a lock that is lost during the write (DS-91)', () => {
  const ways = {
    released: `AFTER INSERT ON locks WHEN NEW.resource = 'lost.csv'
      BEGIN DELETE FROM locks WHERE id = NEW.id; END`,
    'taken over': `AFTER INSERT ON locks WHEN NEW.resource = 'lost.csv' AND NEW.owner <> 'thief' BEGIN
      DELETE FROM locks WHERE id = NEW.id;
      INSERT INTO locks (resource, owner, acquired_at, expires_at, reason)
        VALUES ('lost.csv', 'thief', NEW.acquired_at, NEW.expires_at, 'upload');
    END`,
  };

  test.each(Object.entries(ways))(
    'because it was %s: 409, nothing is written',
    async (_, trigger) => {
      const { service } = shared;
      const tag = await currentTag(writer(), 'lost');
      const before = writeState(service, 'lost.csv');
      const audit = await lastAuditId(service);
      const changes = [
        () => create(writer(), 'lost', [{ n: 2 }]),
        () => update(writer(), 'lost', { _row_id: 1, n: 2 }),
        () => remove(writer(), 'lost', 1),
      ];
      for (const change of changes) {
        const { status, detail } = await withTrigger(trigger, change);
        expect({ status, detail }).toEqual({ status: 409, detail: "Lock on 'lost.csv' was lost" });
        // The thief's lock is not ours to delete.
        await free('lost.csv');
      }
      expect(writeState(service, 'lost.csv')).toEqual(before);
      expect(versionOf(await currentTag(writer(), 'lost'))).toBe(versionOf(tag));
      expect(await auditAfter(service, audit)).toEqual([]);
      expect(temporaryFiles(service)).toEqual([]);
    },
  );

  test("a thief's lock is left alone", async () => {
    await withTrigger(ways['taken over'], () => create(writer(), 'lost', [{ n: 2 }]));
    expect(await locksOn(shared.service, 'lost.csv')).toMatchObject([{ owner: 'thief' }]);
    await free('lost.csv');
    expect((await create(writer(), 'lost', [{ n: 2 }])).status).toBe(200);
  });
});

test('a start removes the locks that an earlier process left (DS-92)', async () => {
  const { service } = shared;
  await hold('a.csv', 3_600);
  await service.kill('SIGKILL');
  await service.start();
  expect(await locksOn(service, 'a.csv')).toEqual([]);
  expect((await update(writer(), 'a', { _row_id: 1, n: 999 })).status).toBe(200);
});

describe('a file system that refuses to write (DS-85)', () => {
  const run = (...command: string[]) => Bun.spawnSync(command, { stderr: 'ignore' }).exitCode === 0;
  // Root passes over modes, so what refuses here is the file system itself.
  const canFix = (() => {
    using folder = temporaryFolder({ probe: '' });
    const isFixed = Bun.which('chattr') !== null && run('chattr', '+i', folder.at('probe'));
    if (isFixed) run('chattr', '-i', folder.at('probe'));
    return isFixed;
  })();
  const isOrdinaryUser = (process.getuid?.() ?? 0) !== 0;
  const pathOf = (rel: string) => join(shared.service.docroot, rel);

  async function expectRefusal(name: string, rel: string): Promise<void> {
    const { service } = shared;
    const before = bytesOf(service, rel);
    const audit = await lastAuditId(service);
    const answers = [
      await create(writer(), name, [{ n: 2 }]),
      await update(writer(), name, { _row_id: 1, n: 2 }),
      await remove(writer(), name, 1),
    ];
    for (const { status, detail } of answers) {
      expect({ status, detail }).toEqual({
        status: 403,
        detail: `Resource '${rel}' is not writable`,
      });
    }
    expect(bytesOf(service, rel)).toBe(before);
    expect(await auditAfter(service, audit)).toEqual([]);
    expect(await locksOn(service, rel)).toEqual([]);
    expect(temporaryFiles(service)).toEqual([]);
    expect((await list(writer(), name)).rows).toEqual([{ _row_id: 1, n: 1 }]);
  }

  test.skipIf(!canFix)('an immutable file: 403, and it works again afterwards', async () => {
    expect(run('chattr', '+i', pathOf('fixed.csv'))).toBe(true);
    try {
      await expectRefusal('fixed', 'fixed.csv');
    } finally {
      run('chattr', '-i', pathOf('fixed.csv'));
    }
    expect((await create(writer(), 'fixed', [{ n: 2 }])).status).toBe(200);
    expect(bytesOf(shared.service, 'fixed.csv')).toBe('n\n1\n2\n');
  });

  test.skipIf(!canFix)('an immutable folder: 403, and it works again afterwards', async () => {
    expect(run('chattr', '+i', pathOf('folder'))).toBe(true);
    try {
      await expectRefusal('folder/inside', 'folder/inside.csv');
    } finally {
      run('chattr', '-i', pathOf('folder'));
    }
    expect((await create(writer(), 'folder/inside', [{ n: 2 }])).status).toBe(200);
  });

  test.skipIf(!isOrdinaryUser)('a folder without the right to write: 403', async () => {
    run('chmod', '555', pathOf('folder'));
    try {
      await expectRefusal('folder/inside', 'folder/inside.csv');
    } finally {
      run('chmod', '755', pathOf('folder'));
    }
  });

  describe('a full disk', () => {
    let isMounted = false;
    beforeAll(() => {
      mkdirSync(pathOf('disk'));
      isMounted = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', pathOf('disk'));
    });
    afterAll(() => {
      if (isMounted) run('umount', '-l', pathOf('disk'));
    });

    test('507, the file is as it was, and there is room again later', async () => {
      if (!isMounted) {
        console.log('left out: mounting a small file system is not allowed here');
        return;
      }
      const { service } = shared;
      service.write('disk/full.csv', `n,t\n${'1,some text\n'.repeat(2_000)}`);
      await eventually(async () => expect((await list(writer(), 'disk/full')).total).toBe(2_000));
      writeFileSync(pathOf('disk/filler.bin'), new Uint8Array(24 * 1024));
      const before = writeState(service, 'disk/full.csv');
      const audit = await lastAuditId(service);
      const { status, detail } = await create(writer(), 'disk/full', [{ n: 2, t: 'x' }]);
      expect({ status, detail }).toEqual({ status: 507, detail: 'Insufficient storage' });
      expect(writeState(service, 'disk/full.csv')).toEqual(before);
      expect(await auditAfter(service, audit)).toEqual([]);
      expect(temporaryFiles(service)).toEqual([]);
      expect((await list(writer(), 'disk/full')).total).toBe(2_000);
      rmSync(pathOf('disk/filler.bin'));
      expect((await create(writer(), 'disk/full', [{ n: 2, t: 'x' }])).status).toBe(200);
      expect(bytesOf(service, 'disk/full.csv')).toEndWith('some text\n2,x\n');
    });
  });
});
