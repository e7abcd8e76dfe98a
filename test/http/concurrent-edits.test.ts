/**
 * Many clients changing one file at once (DS-81, DS-82, DS-84): every acknowledged change is there, If-Match makes
 * them one chain, and those that wait share a replacement of the file.
 */
import { describe, expect, test } from 'bun:test';
import {
  bytesOf,
  create,
  currentTag,
  lastAuditId,
  auditAfter,
  remove,
  update,
  versionOf,
} from './changes.ts';
import { columnOf, idsOf, list } from './listing.ts';
import { ReplacementCount } from './replacement-count.ts';
import { sharedService } from './shared-service.ts';

const CLIENTS = 16;

const shared = sharedService({
  files: {
    'chain.csv': 'counter,by\n0,nobody\n',
    'grouped.csv': `n\n${'0\n'.repeat(CLIENTS)}`,
    'mixed.csv': `n,t\n${Array.from({ length: 100 }, (_, index) => `${index},r${index}`).join('\n')}\n`,
    'one-row.csv': 'n,t\n1,x\n',
    'bad-apples.csv': 'n,t\n1,x\n2,y\n',
    'first-text.csv': 'n,t\nx,a\n2,b\n',
  },
});

const writer = () => shared.writer;
const clients = Array.from({ length: CLIENTS }, (_, index) => index);

test('16 clients with If-Match form one path of versions, and no increment is lost (DS-82)', async () => {
  const increments = 12;
  const edges: { from: string; to: string; value: number }[] = [];
  let refused = 0;
  const first = versionOf(await currentTag(writer(), 'chain'));

  const increment = async (client: number): Promise<void> => {
    for (;;) {
      const { rows, etag } = await list(writer(), 'chain');
      const value = Number(rows[0]!['counter']) + 1;
      const data = { _row_id: 1, counter: value, by: `client ${client}` };
      const changed = await update(writer(), 'chain', data, { 'If-Match': etag });
      if (changed.status === 200) {
        edges.push({ from: versionOf(etag), to: versionOf(changed.etag), value });
        return;
      }
      expect(changed.status).toBe(412);
      expect(changed.detail).toBe("Precondition failed: 'chain' has changed");
      refused++;
    }
  };
  await Promise.all(
    clients.map(async (client) => {
      for (let round = 0; round < increments; round++) await increment(client);
    }),
  );

  expect(edges.length).toBe(CLIENTS * increments);
  expect(refused).toBeGreaterThan(0);
  const next = new Map(edges.map((edge) => [edge.from, edge]));
  expect(next.size).toBe(edges.length);
  let at = first;
  for (let value = 1; value <= edges.length; value++) {
    expect(next.get(at)?.value).toBe(value);
    at = next.get(at)!.to;
  }
  expect(at).toBe(versionOf(await currentTag(writer(), 'chain')));
  const last = edges.find(({ to }) => to === at)!;
  expect(bytesOf(shared.service, 'chain.csv')).toMatch(/^counter,by\n\d+,client \d+\n$/);
  expect((await list(writer(), 'chain')).rows[0]!['counter']).toBe(last.value);
});

describe('changes that wait share a replacement (DS-84)', () => {
  /** How often the file was replaced meanwhile. */
  async function replacementsOf(rel: string, work: () => Promise<unknown>): Promise<number> {
    using replacements = new ReplacementCount(shared.service.docroot);
    await work();
    return replacements.take(rel);
  }

  test('one after the other each has its own', async () => {
    let n = 0;
    const replacements = await replacementsOf('grouped.csv', async () => {
      for (; n < 20; n++) {
        expect((await update(writer(), 'grouped', { _row_id: 1, n: n + 1 })).status).toBe(200);
      }
    });
    expect(replacements).toBe(20);
  });

  test('side by side there are far fewer replacements than changes, each with its own version', async () => {
    const rounds = 15;
    const versions = new Set<string>();
    const replacements = await replacementsOf('grouped.csv', async () => {
      await Promise.all(
        clients.map(async (client) => {
          for (let round = 1; round <= rounds; round++) {
            const data = { _row_id: client + 1, n: 1000 + round };
            const changed = await update(writer(), 'grouped', data);
            expect(changed.status).toBe(200);
            versions.add(changed.etag);
          }
        }),
      );
    });
    const edits = CLIENTS * rounds;
    expect(versions.size).toBe(edits);
    expect(replacements).toBeGreaterThan(0);
    expect(replacements).toBeLessThan(edits / 2);
    expect(bytesOf(shared.service, 'grouped.csv')).toBe(
      `n\n${`${1000 + rounds}\n`.repeat(CLIENTS)}`,
    );
    console.log(`${edits} changes in ${replacements} replacements`);
  });
});

test('creates, updates and deletes side by side all happen, each audited once (DS-83)', async () => {
  const { service } = shared;
  const audit = await lastAuditId(service);
  const created: number[] = [];
  await Promise.all([
    ...clients.map(async (client) => {
      const { status, rowIds } = await create(writer(), 'mixed', [
        { n: 1000 + client, t: 'a' },
        { n: 2000 + client, t: 'b' },
      ]);
      expect(status).toBe(200);
      // The rows of one request stand together and in order.
      expect(rowIds[1]).toBe(rowIds[0]! + 1);
      created.push(...rowIds);
    }),
    ...clients.map(async (client) => {
      expect((await update(writer(), 'mixed', { _row_id: client + 1, t: 'new' })).status).toBe(200);
    }),
    ...clients.map(async (client) => {
      expect((await remove(writer(), 'mixed', 50 + client)).status).toBe(200);
    }),
  ]);
  expect(new Set(created).size).toBe(2 * CLIENTS);
  const { rows } = await list(writer(), 'mixed');
  expect(rows.length).toBe(100 + CLIENTS);
  expect(columnOf(rows.slice(0, CLIENTS), 't')).toEqual(clients.map(() => 'new'));
  expect(idsOf(rows).filter((id) => Number(id) >= 50 && Number(id) < 50 + CLIENTS)).toEqual([]);
  const content = bytesOf(service, 'mixed.csv').trimEnd().split('\n').slice(1);
  expect(content).toEqual(rows.map(({ n, t }) => `${n},${t}`));
  const entries = await auditAfter(service, audit);
  const countOf = (action: string) => entries.filter((entry) => entry.action === action).length;
  expect(entries.length).toBe(3 * CLIENTS);
  expect(countOf('create_dataset_rows')).toBe(CLIENTS);
  expect(countOf('update_dataset_row')).toBe(CLIENTS);
  expect(countOf('delete_dataset_row')).toBe(CLIENTS);
});

test('of 16 clients that delete one row one succeeds (DS-79)', async () => {
  const answers = await Promise.all(clients.map(() => remove(writer(), 'one-row', 1)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array<number>(CLIENTS - 1).fill(404)]);
  for (const { status, detail } of answers)
    if (status === 404) expect(detail).toBe('Row 1 not found');
  expect(bytesOf(shared.service, 'one-row.csv')).toBe('n,t\n');
});

test('of 16 clients with the same If-Match one succeeds (DS-82)', async () => {
  const tag = await currentTag(writer(), 'bad-apples');
  const answers = await Promise.all(
    clients.map((client) =>
      update(writer(), 'bad-apples', { _row_id: 1, n: 100 + client }, { 'If-Match': tag }),
    ),
  );
  const good = answers.filter(({ status }) => status === 200);
  expect(good.length).toBe(1);
  for (const { status, etag } of answers) {
    if (status === 200) continue;
    expect(status).toBe(412);
    expect(etag).toBe(good[0]!.etag);
  }
});

test('refused changes do not disturb those beside them, whatever they are refused for', async () => {
  const path = 'bad-apples';
  const answers = await Promise.all(
    clients.flatMap((client) => [
      create(writer(), path, [{ n: client, t: 'good' }]),
      update(writer(), path, { _row_id: 99_999, n: 1 }),
      update(writer(), path, { _row_id: 2, n: client }, { 'If-Match': '"x"' }),
      create(writer(), path, [{ n: 'no integer' }]),
      create(writer(), path, [{ nope: 1 }]),
    ]),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual(clients.flatMap(() => [200, 404, 412, 422, 422]));
  const { rows } = await list(writer(), path, { filter: { t: 'good' } });
  expect(columnOf(rows, 'n').sort()).toEqual([...clients].sort());
  expect((await list(writer(), path, { filter: { _row_id: 2 } })).rows[0]!['n']).toBe(2);
});

test('changes that were checked against a type which then changes are checked again (DS-84)', async () => {
  // With the text of row 1 gone the column is integer, and texts no longer fit.
  const answers = await Promise.all([
    update(writer(), 'first-text', { _row_id: 1, n: '1' }),
    ...clients.map((client) => update(writer(), 'first-text', { _row_id: 2, t: `c${client}` })),
    ...clients.map((client) => create(writer(), 'first-text', [{ n: `text ${client}` }])),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.every((status) => status === 200 || status === 422)).toBe(true);
  expect(statuses.slice(0, 1 + CLIENTS).every((status) => status === 200)).toBe(true);
  const created = statuses.slice(1 + CLIENTS).filter((status) => status === 200).length;
  const { rows } = await list(writer(), 'first-text');
  expect(rows.length).toBe(2 + created);
  const cells = bytesOf(shared.service, 'first-text.csv').trimEnd().split('\n').slice(1);
  expect(cells.map((line) => line.split(',')[0])).toEqual(columnOf(rows, 'n').map(String));
});
