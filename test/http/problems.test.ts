/**
 * Files that cannot be read: where it is told, who is told, and how it ends (DS-34, DS-182, DS-189).
 */
import { describe, expect, test } from 'bun:test';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, PICK_UP_MS } from './eventually.ts';
import { get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const BROKEN = Buffer.from('a,b\n1,\xff\n', 'latin1');
const REASON = 'invalid UTF-8 at byte offset 6';

const shared = sharedService({
  files: {
    'good.csv': 'a\n1\n',
    'secret/broken.csv': BROKEN,
    'open/broken.csv': BROKEN,
    'open/fine.csv': 'a\n1\n',
    'from the start.csv': BROKEN,
  },
});

interface Listed {
  readonly resources: readonly string[];
  readonly problems?: readonly { readonly resource: string; readonly problem: string }[];
}

const listed = async (client = shared.reader) => (await get(client, '/')).body as Listed;

const problemOf = async (rel: string) =>
  (await listed()).problems?.find(({ resource }) => resource === rel)?.problem;

const metric = async (name: string) => {
  const { text } = await get(shared.reader, '/metrics');
  const value = new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`No ${name} in:\n${text}`);
  return Number(value);
};

let markers = 0;

/** Resolves when the service has noticed all that was written before. */
async function changesAreNoticed(): Promise<void> {
  const name = `marker ${++markers}.csv`;
  shared.service.write(name, 'a\n1\n');
  await eventually(async () => expect((await listed()).resources).toContain(name));
}

describe('a broken file', () => {
  test('is known before anybody asks for it (DS-34)', async () => {
    await eventually(async () => expect(await problemOf('from the start.csv')).toBe(REASON));
  });

  test('is listed with its problem, the others are not (DS-34, DS-182)', async () => {
    const { resources, problems } = await eventually(async () => {
      const found = await listed();
      expect(found.problems).toHaveLength(3);
      return found;
    });
    expect(resources).toEqual([
      'from the start.csv',
      'good.csv',
      'open/broken.csv',
      'open/fine.csv',
      'secret/broken.csv',
    ]);
    expect(problems).toEqual(
      ['from the start.csv', 'open/broken.csv', 'secret/broken.csv'].map((resource) => ({
        resource,
        problem: REASON,
      })),
    );
  });

  test('answers 422 with the reason as rows and as schema, whatever is asked of it (DS-34)', async () => {
    for (const path of [
      '/api/open/broken/',
      '/api/open/broken.csv',
      '/api/open/broken/?limit=1&sort=a',
      '/schema/open/broken/',
    ]) {
      const { status, detail } = await get(shared.reader, path);
      expect({ path, status, detail }).toEqual({
        path,
        status: 422,
        detail: `Cannot read 'open/broken.csv': ${REASON}`,
      });
    }
  });

  test("is nobody else's business (DS-130, DS-182)", async () => {
    const { service } = shared;
    await service.accounts.grant('olga', 'open/*', 'read');
    const olga = await service.as('olga');
    expect(await listed(olga)).toEqual({
      resources: ['open/broken.csv', 'open/fine.csv'],
      problems: [{ resource: 'open/broken.csv', problem: REASON }],
    });
    expect((await get(olga, '/api/secret/broken/')).status).toBe(403);
    expect((await get(service, '/')).text).toBe('{"resources":[]}');
    expect((await get(await service.as('stranger'), '/')).body).toEqual({ resources: [] });
  });

  test('stops nothing else (DS-34)', async () => {
    expect((await list(shared.reader, 'good')).status).toBe(200);
    expect((await list(shared.reader, 'open/fine')).status).toBe(200);
    expect((await get(shared.service, '/health')).body).toMatchObject({ status: 'ok' });
  });

  test('is counted in the metrics and named in the log (DS-34, DS-189)', async () => {
    expect(await metric('svc_resource_problems')).toBe(3);
    expect(await metric('svc_resources{type="csv"}')).toBe(5);
    const lines = shared.service.stderr().split('\n');
    expect(lines.some((line) => line.includes('open/broken.csv') && line.includes(REASON))).toBe(
      true,
    );
    expect((await get(shared.reader, '/metrics')).text).not.toContain('broken');
  });

  test('is reported by svc check, which then fails (DS-34, DS-200)', async () => {
    const { service } = shared;
    const { exitCode, stdout } = await service.command(['check', service.docroot]);
    expect(stdout).toContain(`PROBLEM: open/broken.csv: ${REASON}\n`);
    expect(exitCode).toBe(1);
  });
});

describe('a file that breaks or is mended', () => {
  test('recovers with the change that mends it, everywhere (DS-34)', async () => {
    const { service, reader } = shared;
    service.write('changing.csv', BROKEN);
    await eventually(async () => expect((await list(reader, 'changing')).status).toBe(422));
    await eventually(async () => expect(await problemOf('changing.csv')).toBe(REASON));
    service.write('changing.csv', 'a,b\n1,2\n');
    expect((await list(reader, 'changing')).text).toBe('[{"_row_id":1,"a":1,"b":2}]');
    expect((await get(reader, '/schema/changing/')).status).toBe(200);
    await eventually(
      async () => expect(await problemOf('changing.csv')).toBeUndefined(),
      PICK_UP_MS,
    );
  });

  test('shows its problem within a second without any request for it (DS-33, DS-34)', async () => {
    const { service } = shared;
    service.write('silent.csv', 'a\n1\n');
    await eventually(async () => expect((await listed()).resources).toContain('silent.csv'));
    service.write('silent.csv', BROKEN);
    await eventually(async () => expect(await problemOf('silent.csv')).toBe(REASON), PICK_UP_MS);
    service.write('silent.csv', 'a\n2\n');
    await eventually(async () => expect(await problemOf('silent.csv')).toBeUndefined(), PICK_UP_MS);
  });

  test('keeps its problem in the list when it was asked for before it was noticed (DS-34)', async () => {
    const { service, reader } = shared;
    service.write('asked.csv', 'a\n1\n');
    await eventually(async () => expect((await list(reader, 'asked')).status).toBe(200));
    for (let round = 0; round < 5; round++) {
      service.write('asked.csv', `a\n${round}\0\n`);
      expect((await list(reader, 'asked')).status).toBe(422);
      await changesAreNoticed();
      await eventually(async () => expect(await problemOf('asked.csv')).toMatch(/NUL/), PICK_UP_MS);
      service.write('asked.csv', `a\n${round}\n`);
      expect((await list(reader, 'asked')).rows).toEqual([{ _row_id: 1, a: round }]);
      await changesAreNoticed();
      await eventually(
        async () => expect(await problemOf('asked.csv')).toBeUndefined(),
        PICK_UP_MS,
      );
    }
  });

  test('is mended for who asks after that, while the broken one is still being read (DS-33, DS-34)', async () => {
    const { service, reader } = shared;
    service.write('mended.csv', 'a\n1\n');
    await eventually(async () => expect((await list(reader, 'mended')).status).toBe(200));
    for (let round = 0; round < 40; round++) {
      service.write('mended.csv', `a\n${'9\n'.repeat(20_000)}\0\n`);
      const early = list(reader, 'mended');
      await Bun.sleep(round % 10);
      service.write('mended.csv', `a\n${round}\n`);
      expect((await list(reader, 'mended')).text).toBe(`[{"_row_id":1,"a":${round}}]`);
      expect([200, 422]).toContain((await early).status);
    }
  });

  test('is judged by its bytes, even when size and times do not change (DS-34, DS-143)', async () => {
    const { service, reader } = shared;
    service.write('same size.csv', 'a\n0\n');
    await eventually(async () => expect((await list(reader, 'same size')).status).toBe(200));
    for (let round = 0; round < 25; round++) {
      service.write('same size.csv', 'a\n\0\n');
      expect((await list(reader, 'same size')).status).toBe(422);
      service.write('same size.csv', `a\n${round % 10}\n`);
      expect((await list(reader, 'same size')).text).toBe(`[{"_row_id":1,"a":${round % 10}}]`);
    }
  });

  test('takes its problem along when it is renamed, and away when it is deleted (DS-33, DS-34)', async () => {
    const { service } = shared;
    service.write('one.csv', BROKEN);
    await eventually(async () => expect(await problemOf('one.csv')).toBe(REASON));
    renameSync(join(service.docroot, 'one.csv'), join(service.docroot, 'two.csv'));
    await eventually(async () => expect(await problemOf('two.csv')).toBe(REASON), PICK_UP_MS);
    expect(await problemOf('one.csv')).toBeUndefined();
    rmSync(join(service.docroot, 'two.csv'));
    await eventually(async () => expect(await problemOf('two.csv')).toBeUndefined(), PICK_UP_MS);
    expect((await listed()).resources).not.toContain('two.csv');
  });

  test.skipIf(process.getuid?.() === 0)(
    'may be one that the file system refuses, until it does not (DS-34)',
    async () => {
      const { service, reader } = shared;
      service.write('refused.csv', 'a\n1\n');
      await eventually(async () => expect((await list(reader, 'refused')).status).toBe(200));
      service.write('refused.csv', 'a\n2\n');
      chmodSync(join(service.docroot, 'refused.csv'), 0o000);
      expect((await list(reader, 'refused')).detail).toBe(
        "Cannot read 'refused.csv': permission denied",
      );
      await eventually(async () => {
        expect(await problemOf('refused.csv')).toBe('permission denied');
      });
      chmodSync(join(service.docroot, 'refused.csv'), 0o600);
      expect((await list(reader, 'refused')).rows).toEqual([{ _row_id: 1, a: 2 }]);
    },
  );

  test('is the same after a restart (DS-34)', async () => {
    const { service } = shared;
    await service.restart();
    await eventually(async () => expect(await problemOf('open/broken.csv')).toBe(REASON));
    expect((await list(shared.reader, 'open/broken')).detail).toBe(
      `Cannot read 'open/broken.csv': ${REASON}`,
    );
  });
});
