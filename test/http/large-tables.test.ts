/**
 * Tables too large for the server process to read by itself: the same answers through the query workers, streamed
 * with bounded memory, before and after indexes are made, and nothing left behind by those who leave (DS-39, F20, D2).
 */
import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { address, get, list, walk } from './listing.ts';
import type { Query } from './listing.ts';
import { childrenOf, memoryOf, residentWithChildren } from './process-memory.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

/** A hundred times what a table has before an index is made for it, and more than the server makes one of by itself. */
const ROWS = 100_000;
/** 100 MB as JSON. */
const EXPORT_ROWS = 200_000;
const MIB = 1024 * 1024;
const FILLER = 'lorem ipsum dolor sit amet '.repeat(17);

interface Row {
  readonly _row_id: number;
  readonly id: number;
  readonly group: number | '';
  readonly x: number;
  readonly flag: boolean;
  readonly text: string;
}

/** A shuffled but repeatable table. */
const rows: readonly Row[] = Array.from({ length: ROWS }, (_, index) => {
  const id = (index * 7_919) % ROWS;
  return {
    _row_id: index + 1,
    id,
    group: id % 50 === 0 ? '' : id % 97,
    x: ((id * 31) % 10_007) / 8,
    flag: id % 3 === 0,
    text: `row ${id} of ${id % 97}`,
  };
});

const csvOf = (some: readonly Row[]) =>
  `id,group,x,flag,text\n${some.map(({ id, group, x, flag, text }) => `${id},${group},${x},${flag},${text}`).join('\n')}\n`;

// Killing a worker in the middle of an answer is what one of the tests does.
const shared = sharedService(
  {
    files: {
      'large.csv': csvOf(rows),
      'plain.csv': csvOf(rows),
      'export.csv': `id,text\n${Array.from({ length: EXPORT_ROWS }, (_, id) => `${id},${id} ${FILLER}`).join('\n')}\n`,
    },
  },
  // A test kills all workers; a request that comes before the server hears of it is told to come again.
  /"message":"A child process (?:ended unexpectedly|broke off its job)"|"path":"\/api\/large\/","status":503/,
);

beforeAll(async () => {
  for (const name of ['large', 'plain', 'export']) {
    await eventually(async () => {
      expect((await list(shared.reader, name, { limit: 1 })).status).toBe(200);
    }, 25_000);
  }
});

/** The order of the model; blanks of a number column come last. */
const by =
  (key: 'id' | 'group' | 'x' | 'text', isDown = false) =>
  (a: Row, b: Row): number => {
    const [x, y] = [a[key], b[key]];
    if (x === y) return a._row_id - b._row_id;
    if (x === '' || y === '') return x === '' ? 1 : -1;
    return x < y === isDown ? 1 : -1;
  };

interface Question {
  readonly query: Query;
  readonly model: () => readonly Row[];
}

const questions: readonly Question[] = [
  { query: {}, model: () => rows },
  { query: { sort: '-_row_id' }, model: () => rows.toReversed() },
  { query: { sort: 'id' }, model: () => rows.toSorted(by('id')) },
  { query: { sort: '-x' }, model: () => rows.toSorted(by('x', true)) },
  { query: { sort: 'group' }, model: () => rows.toSorted(by('group')) },
  { query: { sort: '-group' }, model: () => rows.toSorted(by('group', true)) },
  { query: { sort: 'text' }, model: () => rows.toSorted(by('text')) },
  {
    query: { sort: '-group,text' },
    model: () =>
      rows.toSorted((a, b) => (a.group === b.group ? by('text')(a, b) : by('group', true)(a, b))),
  },
  { query: { filter: { id: 77_777 } }, model: () => rows.filter(({ id }) => id === 77_777) },
  { query: { filter: { group: 13 } }, model: () => rows.filter(({ group }) => group === 13) },
  { query: { filter: { group: '' } }, model: () => rows.filter(({ group }) => group === '') },
  {
    query: { filter: { group: { $in: [1, '', 5] } }, sort: '-x' },
    model: () => rows.filter(({ group }) => [1, '', 5].includes(group)).toSorted(by('x', true)),
  },
  {
    query: { filter: { x: { $gte: 100, $lt: 101 } }, sort: 'x' },
    model: () => rows.filter(({ x }) => x >= 100 && x < 101).toSorted(by('x')),
  },
  {
    query: { filter: { flag: true, group: 13 }, sort: 'id' },
    model: () => rows.filter(({ flag, group }) => flag && group === 13).toSorted(by('id')),
  },
  {
    query: { filter: { group: { $ne: 13 } }, sort: 'group' },
    model: () => rows.filter(({ group }) => group !== 13).toSorted(by('group')),
  },
  {
    query: { filter: { text: { $startswith: 'row 1999' } }, sort: '-text' },
    model: () => rows.filter(({ text }) => text.startsWith('row 1999')).toSorted(by('text', true)),
  },
  {
    query: { filter: { text: { $contains: ' of 96' } } },
    model: () => rows.filter(({ text }) => text.includes(' of 96')),
  },
  {
    query: { filter: { text: { $regex: '^row [0-9]{2} ' } }, sort: 'id' },
    model: () => rows.filter(({ text }) => /^row [0-9]{2} /.test(text)).toSorted(by('id')),
  },
  {
    query: { q: 'row 7777' },
    model: () => rows.filter(({ text }) => /\b7777/.test(text)),
  },
  {
    query: { filter: { $or: [{ id: 5 }, { group: 96, flag: false }] }, sort: '-id' },
    model: () =>
      rows
        .filter(({ id, group, flag }) => id === 5 || (group === 96 && !flag))
        .toSorted(by('id', true)),
  },
];

/** A page in the middle, one near each end, and all that is left after the last. */
const offsetsOf = (total: number): number[] => [
  ...new Set([0, 1, Math.floor(total / 2), Math.max(0, total - 3), total]),
];

async function checkQuestion(name: string, { query, model }: Question): Promise<void> {
  const expected = model();
  for (const offset of offsetsOf(expected.length)) {
    const answer = await list(shared.reader, name, { ...query, offset, limit: 5 });
    expect({ query, offset, status: answer.status, total: answer.total }).toEqual({
      query,
      offset,
      status: 200,
      total: expected.length,
    });
    expect({ query, offset, rows: answer.rows as unknown }).toEqual({
      query,
      offset,
      rows: expected.slice(offset, offset + 5),
    });
    if (answer.next === null) expect(offset + 5).toBeGreaterThanOrEqual(expected.length);
    else {
      const next = await get(shared.reader, answer.next);
      expect(next.rows as unknown).toEqual(expected.slice(offset + 5, offset + 10));
    }
  }
}

describe('100,000 rows', () => {
  test.each(questions.map((one) => [JSON.stringify(one.query), one] as const))(
    '%s: pages everywhere, before and after indexes are made (DS-36 to DS-58)',
    async (_, question) => {
      // The first round asks often enough to bring indexes; both must tell the same.
      for (let round = 0; round < 2; round++) await checkQuestion('large', question);
    },
  );

  test('indexes that others made change no answer (DS-38)', async () => {
    // Otherwise this test and the ones before have compared nothing.
    expect(indexesMade()).toBeGreaterThan(3);
    for (const question of questions) {
      const { query, model } = question;
      const [indexed, plain] = await Promise.all([
        list(shared.reader, 'large', { ...query, limit: 50, offset: 7, columns: 'id' }),
        list(shared.reader, 'plain', { ...query, limit: 50, offset: 7, columns: 'id' }),
      ]);
      expect(indexed.rows).toEqual(plain.rows);
      expect([indexed.total, plain.total]).toEqual([model().length, model().length]);
    }
  });

  test('a walk in large steps gives every row once (DS-41)', async () => {
    for (const query of [
      { sort: '-group' },
      { sort: 'text', filter: { flag: true } },
      { q: 'of 9' },
    ]) {
      const pages = await walk(
        shared.reader,
        address('large', { ...query, limit: 15_000, columns: 'id' }),
      );
      const all = await list(shared.reader, 'large', { ...query, columns: 'id' });
      expect(pages.map(({ total }) => total)).toEqual(pages.map(() => all.total));
      const walked = pages.map((page) => page.text.slice(1, -1)).join(',');
      expect(`[${walked}]` === all.text).toBe(true);
    }
  });

  test('a walk goes on while an index is being made and rows are written (DS-41)', async () => {
    const { writer } = shared;
    const path = address('plain', { sort: '-x,id', limit: 22_000, columns: 'id,x' });
    let created = 0;
    const pages = await walk(writer, path, async () => {
      const body = JSON.stringify({ action: 'create', data: [{ id: -1, x: 5_000 }] });
      expect((await writer.fetch('/api/plain/', { method: 'POST', body })).status).toBe(200);
      created++;
    });
    expect(created).toBeGreaterThan(3);
    const seen = pages.flatMap((page) => page.rows).filter(({ id }) => id !== -1);
    expect(seen.length).toBe(ROWS);
    expect(new Set(seen.map(({ _row_id }) => _row_id)).size).toBe(ROWS);
  });

  test('all rows in every format (DS-39, DS-44)', async () => {
    const expected = rows.toSorted(by('id'));
    const textOf = async (format: string) =>
      (await shared.reader.fetch(address('large', { sort: 'id', format }))).text();
    // Not toBe: nobody wants to see the difference of two texts of 7 MB.
    expect((await textOf('json')) === JSON.stringify(expected)).toBe(true);
    const lines = expected.map((row) => `${JSON.stringify(row)}\n`).join('');
    expect((await textOf('ndjson')) === lines).toBe(true);
    expect((await textOf('csv')) === csvOf(expected)).toBe(true);
  });
});

/** Indexes on columns in the typed copies of the service. */
function indexesMade(): number {
  const folder = join(shared.service.stateDir, 'tables');
  const copies = readdirSync(folder).filter((name) => name.endsWith('.sqlite'));
  return copies.reduce((sum, name) => {
    const db = new Database(join(folder, name), { readonly: true });
    const found = db.query("SELECT 1 FROM sqlite_schema WHERE type = 'index'").all().length;
    db.close();
    return sum + found;
  }, 0);
}

test('64 clients at once all get their pages (L1)', async () => {
  const queries: Query[] = [
    { limit: 100 },
    { limit: 100, offset: 75_000 },
    { limit: 10, sort: '-id' },
    { limit: 10, filter: { id: 4_711 } },
    { limit: 10, filter: { text: { $contains: '4711' } } },
  ];
  const clients = Array.from({ length: 64 }, async (_, client) => {
    for (let request = 0; request < 5; request++) {
      const { status } = await list(shared.reader, 'large', queries[(client + request) % 5]);
      expect(status).toBe(200);
    }
  });
  await Promise.all(clients);
});

describe('an export of 100 MB', () => {
  const path = '/api/export/';
  let key = '';
  beforeAll(async () => {
    key = await shared.service.accounts.apiKey('reader');
  });

  /** Reads a body to its end, at most `bytesPerMs` fast. */
  async function drained(response: Response, look: () => void = () => {}): Promise<number> {
    let size = 0;
    for await (const chunk of response.body!) {
      size += chunk.length;
      look();
    }
    return size;
  }

  const plainly = (more: RequestInit = {}) =>
    shared.reader.fetch(path, { ...more, headers: { 'Accept-Encoding': 'identity' } });

  test('streams with bounded memory, of the server and of its workers (DS-39)', async () => {
    const { pid } = shared.service;
    await list(shared.reader, 'export', { limit: 1 });
    const before = { server: memoryOf(pid)!.resident, all: residentWithChildren(pid) };
    let most = { server: 0, all: 0 };
    let chunks = 0;
    const size = await drained(await plainly(), () => {
      if (chunks++ % 50 !== 0) return;
      most = {
        server: Math.max(most.server, memoryOf(pid)!.resident),
        all: Math.max(most.all, residentWithChildren(pid)),
      };
    });
    expect(size).toBeGreaterThan(95_000_000);
    expect(most.server - before.server).toBeLessThan(64 * MIB);
    expect(most.all - before.all).toBeLessThan(160 * MIB);
  });

  test('asked for by HEAD is told about and not made (DS-6)', async () => {
    const timesToTell: number[] = [];
    for (let time = 0; time < 3; time++) {
      const start = performance.now();
      const { status, text, total } = await get(shared.reader, path, { method: 'HEAD' });
      timesToTell.push(performance.now() - start);
      expect({ status, text, total }).toEqual({ status: 200, text: '', total: EXPORT_ROWS });
    }
    const start = performance.now();
    await drained(await plainly());
    expect(Math.min(...timesToTell)).toBeLessThan((performance.now() - start) / 2);
  });

  test('is whole and valid JSON, compressed or not (DS-19, DS-39)', async () => {
    const plain = await (await plainly()).text();
    const packed = await (await shared.reader.fetch(path)).text();
    expect(packed === plain).toBe(true);
    expect(plain.startsWith('[{"_row_id":1,"id":0,"text":"0 lorem')).toBe(true);
    expect(plain.endsWith('"}]')).toBe(true);
    expect((JSON.parse(plain) as unknown[]).length).toBe(EXPORT_ROWS);
  });

  test('costs little memory when nobody reads on, and holds up nobody (F20)', async () => {
    const { service, reader } = shared;
    const before = residentWithChildren(service.pid);
    const stuck = await Promise.all([1, 2, 3].map(() => unread(service.url, path, key)));
    for (let request = 0; request < 20; request++) {
      const { status } = await list(reader, 'large', {
        filter: { text: { $regex: 'row 1+ ' } },
        limit: 5,
      });
      expect(status).toBe(200);
    }
    expect(residentWithChildren(service.pid) - before).toBeLessThan(300 * MIB);
    for (const socket of stuck) socket.destroy();
    await exportsAreFree();
  });

  test('that is given up frees its worker at once (F20, M8)', async () => {
    for (let round = 0; round < 3; round++) {
      const aborts = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const controller = new AbortController();
          const response = await plainly({ signal: controller.signal });
          await response.body!.getReader().read();
          return controller;
        }),
      );
      for (const controller of aborts) controller.abort();
      await exportsAreFree();
    }
    expect((await get(shared.service, '/health')).status).toBe(200);
  });

  test('is from one version of the file, whatever happens to the file (DS-39)', async () => {
    const { service, reader, writer } = shared;
    const version = (mark: string) =>
      `id,mark,text\n${Array.from({ length: 60_000 }, (_, id) => `${id},${mark},${FILLER}`).join('\n')}\n`;
    service.write('versions.csv', version('one'));
    await eventually(async () =>
      expect((await list(reader, 'versions', { limit: 1 })).total).toBe(60_000),
    );
    const response = await reader.fetch('/api/versions/?format=csv', {
      headers: { 'Accept-Encoding': 'identity' },
    });
    const changed = Promise.withResolvers<void>();
    const whole = readInSips(response, changed.promise);
    const body = JSON.stringify({ action: 'update', data: { _row_id: 59_999, mark: 'changed' } });
    expect((await writer.fetch('/api/versions/', { method: 'PATCH', body })).status).toBe(200);
    expect((await list(reader, 'versions', { filter: { mark: 'changed' } })).total).toBe(1);
    service.write('versions.csv', version('two'));
    expect((await list(reader, 'versions', { limit: 1 })).rows[0]!['mark']).toBe('two');
    rmSync(`${service.docroot}/versions.csv`);
    await eventually(async () => expect((await list(reader, 'versions')).status).toBe(404));
    changed.resolve();
    expect((await whole) === version('one')).toBe(true);
  });

  /** The text of an answer of which little is taken until `all`: enough not to be a reader that stands still (F20). */
  async function readInSips(response: Response, all: Promise<void>): Promise<string> {
    const reading = response.body!.getReader();
    const chunks: Uint8Array[] = [];
    for (let left = MIB; ; left = MIB) {
      while (left > 0) {
        const { value, done } = await reading.read();
        if (done) return Buffer.concat(chunks).toString();
        chunks.push(value);
        left -= value.length;
      }
      await Promise.race([all, Bun.sleep(3_000)]);
    }
  }

  test('ends when its reader loses the right meanwhile (S-Z10)', async () => {
    const { service } = shared;
    await service.accounts.grant('leaver', 'export', 'read');
    const leaver = await service.as('leaver');
    const response = await leaver.fetch(path, { headers: { 'Accept-Encoding': 'identity' } });
    const reading = response.body!.getReader();
    let size = (await reading.read()).value!.length;
    await service.accounts.db.run(
      'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
      ['leaver'],
    );
    // A right is looked at every two seconds, and this reader takes its time; the client's buffers hold less than the answer.
    const rest = (async () => {
      for (let step = await reading.read(); !step.done; step = await reading.read()) {
        size += step.value.length;
        await Bun.sleep(500);
      }
    })();
    expect(await rest.catch(() => 'broken off')).toBe('broken off');
    expect(size).toBeLessThan(95_000_000);
    await exportsAreFree();
  });

  test('whose worker dies breaks off, and is never a shorter list (DS-39)', async () => {
    const { service, reader } = shared;
    const response = await plainly();
    const reading = response.body!.getReader();
    await reading.read();
    const workers = childrenOf(service.pid).filter(({ command }) =>
      command.includes('child query'),
    );
    expect(workers.length).toBeGreaterThan(0);
    for (const { pid } of workers) process.kill(pid, 'SIGKILL');
    let size = 0;
    const rest = (async () => {
      for (let step = await reading.read(); !step.done; step = await reading.read()) {
        size += step.value.length;
      }
    })();
    await expect(rest).rejects.toThrow();
    expect(size).toBeLessThan(95_000_000);
    await eventually(async () => {
      expect((await list(reader, 'large', { q: 'row 77', limit: 1 })).status).toBe(200);
    });
  });

  /** A new export gets a worker soon. */
  async function exportsAreFree(): Promise<void> {
    const start = performance.now();
    const response = await plainly();
    expect(response.status).toBe(200);
    const reading = response.body!.getReader();
    await reading.read();
    expect(performance.now() - start).toBeLessThan(onSharedCores(10_000));
    // By its reader: a body that is being read cannot be cancelled, and would stand there like one nobody reads on.
    await reading.cancel();
    await eventually(() => {
      const workers = childrenOf(shared.service.pid).filter(({ command }) =>
        command.includes('child query'),
      );
      expect(workers.length).toBeLessThanOrEqual(3);
    });
  }
});

/** A connection that has asked and reads nothing of the answer. */
function unread(baseUrl: string, path: string, key: string): Promise<ReturnType<typeof connect>> {
  const { hostname, port, host } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n\r\n`);
    });
    socket.once('data', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
