/**
 * Uploads while the disk is full and while the server is killed: the old file or the new one, never a part, and nothing
 * left behind (DS-85, DS-155; F1, F4).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { AttachedStrace } from '../faults/attached-strace.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { isExcused } from '../faults/recipe.ts';
import { Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { list, listNoticed } from './listing.ts';
import { field, file, formOf, namesIn, send, upload } from './upload-form.ts';

const MIB = 1024 * 1024;
const config = { upload: { enabled: true, max_size_bytes: 64 * MIB } };

test.skipIf(isExcused())(
  'a full disk refuses with 507, keeps the old file, and is forgotten when there is room',
  async () => {
    await using service = new Service({ config });
    using disk = new SmallDisk(service.docroot, 24 * MIB);
    // The state has its own place: what is full is the folder of the files.
    mkdirSync(service.stateDir, { mode: 0o700 });
    using _state = new SmallDisk(service.stateDir, 24 * MIB);
    service.write('kept.csv', 'n\n1\n');
    await service.start();
    await service.accounts.user('root', { superuser: true });
    const root = await service.as('root');
    const large = `n\n${'1\n'.repeat(2 * MIB)}`;
    for (const left of [0, 4096, MIB]) {
      disk.fill(left);
      for (const name of ['kept.csv', 'new.csv']) {
        expect(await upload(root, name, large)).toMatchObject({
          status: 507,
          detail: 'Insufficient storage',
        });
      }
      expect(namesIn(service).filter((name) => name !== '.filler')).toEqual(['kept.csv']);
      expect(await (await root.fetch('/api/kept/')).json()).toMatchObject([{ n: 1 }]);
      disk.free();
    }
    expect(await upload(root, 'kept.csv', large)).toMatchObject({ status: 201 });
  },
);

test('a killed server leaves one whole file and, once started, nothing else', async () => {
  await using service = await startService({ config });
  await service.accounts.user('root', { superuser: true });
  const root = await service.as('root');
  const content = (letter: string) => `n\n${`${letter}\n`.repeat(4 * MIB)}`;
  expect(await upload(root, 'x.txt', content('a'))).toMatchObject({ status: 201 });
  const path = join(service.docroot, 'x.txt');
  for (const letter of 'bcdefghi') {
    // The name behind the file in every other round: that way takes another path.
    const parts = [field('filename', 'x.txt'), file(content(letter))];
    const body = formOf(letter > 'e' ? parts.toReversed() : parts);
    const sending = send(root, body).then(
      ({ status }) => status,
      () => null,
    );
    if (letter !== 'b') {
      const isUnderWay = () => namesIn(service).length > 1 || readFileSync(path)[2] !== 97;
      await Promise.race([eventually(() => expect(isUnderWay()).toBe(true)), sending]).catch(
        () => null,
      );
      await Bun.sleep(letter.charCodeAt(0) % 5);
    }
    await service.kill('SIGKILL');
    const status = await sending;
    const now = readFileSync(path, 'utf8');
    expect(now === content(now[2]!)).toBe(true);
    if (status === 201) expect(now[2]).toBe(letter);
    await service.start();
    expect(namesIn(service)).toEqual(['x.txt']);
    expect(await upload(root, 'x.txt', content('a'))).toMatchObject({ status: 201 });
  }
});

/** Groups that own uploads, with their members. */
function ownersIn({ accounts }: Service): Promise<{ name: string; description: string }[]> {
  return accounts.db.all(
    `SELECT groups.name, groups.description, group_concat(username) AS members FROM groups
     LEFT JOIN group_members ON group_id = groups.id LEFT JOIN users ON users.id = user_id
     WHERE groups.name LIKE 'upload%' GROUP BY groups.id`,
  );
}

test.skipIf(isExcused() || Bun.which('strace') === null)(
  'killed before a new file has its name or right after, it is there with its owner or not at all (DS-156)',
  async () => {
    await using service = await startService({ files: { 'old.csv': 'n\n1\n' }, config });
    await service.accounts.grant('ada', '', 'write');
    const ada = await service.as('ada');
    for (const [call, name] of [
      ['renameat2', 'before.csv'],
      ['fsync', 'after.csv'],
    ] as const) {
      await using strace = await AttachedStrace.attach(service.pid, {
        injections: [`${call}:signal=SIGKILL:when=1`],
        // The folder's own sync comes after the file has its name.
        paths: call === 'fsync' ? [service.docroot] : [],
      });
      expect(await upload(ada, name, 'n\n1\n').catch(() => null)).toBeNull();
      await service.kill('SIGKILL');
      await strace.ended();
      expect(namesIn(service).includes(name)).toBe(call === 'fsync');
      expect(await ownersIn(service)).toEqual([
        {
          name: `upload_owner_${name}`,
          description: `Uploading ${name}`,
          members: 'ada',
        } as never,
      ]);
      await service.start();
      if (call === 'renameat2') {
        expect(await ownersIn(service)).toEqual([]);
        service.write(name, 'n\n2\n');
        const refused = await list(ada, 'before');
        expect(refused.status).toBe(403);
      }
    }
    expect((await listNoticed(ada, 'after')).rows).toEqual([{ _row_id: 1, n: 1 }]);
    expect(await ownersIn(service)).toMatchObject([
      { description: 'Uploaded after.csv', members: 'ada' },
    ]);
  },
);

test.skipIf(isExcused() || Bun.which('strace') === null)(
  'a new file that is refused its name is told so, and leaves no owner behind (DS-85, DS-156)',
  async () => {
    await using service = await startService({ config });
    await service.accounts.grant('ada', '', 'write');
    const ada = await service.as('ada');
    await using _strace = await AttachedStrace.attach(service.pid, {
      injections: ['renameat2:error=EACCES'],
    });
    expect(await upload(ada, 'x.csv', 'n\n1\n')).toMatchObject({
      status: 403,
      detail: "Resource 'x.csv' is not writable",
    });
    expect(namesIn(service)).toEqual([]);
    expect(await ownersIn(service)).toEqual([]);
  },
);

test('a file that is in its place belongs to its uploader, also when that cannot be noted any more (DS-156)', async () => {
  await using service = await startService({ config });
  await service.accounts.grant('ada', '', 'write');
  await service.accounts.user('bob');
  const [ada, bob] = [await service.as('ada'), await service.as('bob')];
  await service.accounts.db.run(
    "CREATE TRIGGER of_a_test BEFORE UPDATE ON groups WHEN NEW.description LIKE 'Uploaded %' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  expect(await upload(ada, 'x.csv', 'n\n1\n')).toMatchObject({ status: 201 });
  expect(namesIn(service)).toEqual(['x.csv']);
  expect((await listNoticed(ada, 'x')).rows).toEqual([{ _row_id: 1, n: 1 }]);
  expect((await list(bob, 'x')).status).toBe(403);
  await service.accounts.db.run('DROP TRIGGER of_a_test');
  await service.kill('SIGTERM');
  await service.start();
  expect(await ownersIn(service)).toMatchObject([
    { description: 'Uploaded x.csv', members: 'ada' },
  ]);
  expect((await list(ada, 'x')).rows).toEqual([{ _row_id: 1, n: 1 }]);
});

test('a file that never got its place leaves no owner behind (DS-156)', async () => {
  await using service = await startService({ config });
  await service.accounts.grant('ada', '', 'write');
  const ada = await service.as('ada');
  await service.accounts.db.run(
    "CREATE TRIGGER of_a_test BEFORE INSERT ON group_members BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  expect(await upload(ada, 'x.csv', 'n\n1\n')).toMatchObject({
    status: 500,
    detail: 'Upload failed',
  });
  expect(namesIn(service)).toEqual([]);
  expect(await ownersIn(service)).toEqual([]);
});
