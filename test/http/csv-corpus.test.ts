/**
 * Every file of the corpus is read as the contract says or refused with its reason, and nothing else suffers (B-C).
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { csvCorpus } from './csv-corpus.ts';
import type { CsvCase } from './csv-corpus.ts';
import { address, get, list, listNoticed } from './listing.ts';
import type { Listing } from './listing.ts';
import { childrenOf, forgetPeak, memoryOf } from './process-memory.ts';
import { seeded } from './seed.ts';
import { sharedService } from './shared-service.ts';

const MIB = 1024 * 1024;

const shared = sharedService({ files: { 'good.csv': 'a\n1\n' } });

/** Runs `work` and checks what it took beyond what was there before: of the server, and of every worker at all (F9). */
async function withLittleMemory(work: () => Promise<void>): Promise<void> {
  const { pid } = shared.service;
  forgetPeak(pid);
  const before = memoryOf(pid)!.resident;
  await work();
  expect(memoryOf(pid)!.peak - before).toBeLessThan(64 * MIB);
  for (const child of childrenOf(pid)) {
    expect(memoryOf(child.pid)?.peak ?? 0).toBeLessThan(256 * MIB);
  }
}

async function isHealthy(): Promise<void> {
  const { status, body } = await get(shared.service, '/health');
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await list(shared.reader, 'good')).text).toBe('[{"_row_id":1,"a":1}]');
}

/** No answer tells where the files are, or how the program is made. */
function tellsNothing({ text }: Listing): void {
  expect(text.slice(0, 5_000)).not.toMatch(/docroot|\/tmp|\bat \S+:\d+|SQLITE|SELECT /);
}

describe('a file that is', () => {
  test.each(csvCorpus.map((one, index) => [one.name, `case ${index}`, one] as const))(
    '%s gives what the contract says (B-C)',
    async (_, name, one) => {
      if (one.options) {
        shared.service.write(`.svc/${name}.csv.options.json`, JSON.stringify(one.options));
      }
      shared.service.write(`${name}.csv`, one.bytes());
      await withLittleMemory(async () => {
        const limit = 'rows' in one ? {} : { limit: 3 };
        const rows = await listNoticed(shared.reader, name, limit);
        const schema = await get(shared.reader, address(name, {}, 'schema'));
        tellsNothing(rows);
        tellsNothing(schema);
        if ('problem' in one) checkRefused(`${name}.csv`, one.problem, [rows, schema]);
        else await checkAccepted(name, one, rows, schema);
        await isHealthy();
      });
    },
  );
});

function checkRefused(rel: string, problem: RegExp, answers: readonly Listing[]): void {
  const prefix = `Cannot read '${rel}': `;
  for (const { status, detail } of answers) {
    expect({ status, detail }).toEqual({ status: 422, detail: expect.stringContaining(prefix) });
    expect(String(detail).slice(prefix.length)).toMatch(problem);
  }
}

async function checkAccepted(
  name: string,
  one: Exclude<CsvCase, { problem: RegExp }>,
  rows: Listing,
  schema: Listing,
): Promise<void> {
  expect({ status: rows.status, schema: schema.status }).toEqual({ status: 200, schema: 200 });
  const { columns } = schema.body as { columns: Record<string, { type: string }> };
  if ('rows' in one) {
    const types = Object.entries(columns).map(([column, { type }]) => [column, type]);
    expect(new Map(types as [string, string][])).toEqual(new Map(Object.entries(one.columns)));
    expect(rows.total).toBe(one.rows.length);
    const expected = one.rows.map((cells, index) => [index + 1, ...cells]);
    expect(rows.rows.map((row) => Object.values(row))).toEqual(expected);
    if (rows.rows.length > 0) {
      const names = [...rows.text.slice(0, 60_000).matchAll(/"((?:[^"\\]|\\.)*)":/g)];
      const first = names.slice(0, Object.keys(one.columns).length + 1);
      expect(first.map(([, key]) => JSON.parse(`"${key}"`))).toEqual([
        '_row_id',
        ...Object.keys(one.columns),
      ]);
    }
  } else {
    expect(Object.keys(columns)).toHaveLength(one.width);
    expect(rows.total).toBe(one.count);
    expect(Object.keys(rows.rows[0]!)).toHaveLength(one.width + 1);
  }
  const sort = `-"${Object.keys(columns)[0]?.replaceAll('"', '""') ?? '_row_id'}"`;
  for (const query of [
    { sort, limit: 2 },
    { q: 'x', limit: 2 },
    { format: 'csv', limit: 2 },
  ]) {
    expect((await list(shared.reader, name, query)).status).toBe(200);
  }
}

test('the values that decide a type come late, too (DS-59)', async () => {
  const late = csvCorpus.findIndex(({ name }) => name.startsWith('a text after three'));
  const { rows } = await list(shared.reader, `case ${late}`, { limit: 1 });
  expect(rows).toEqual([{ _row_id: 1, a: '0', b: 1 }]);
  const longer = csvCorpus.findIndex(({ name }) => name.startsWith('a longer row after'));
  const last = await list(shared.reader, `case ${longer}`, { sort: '-_row_id', limit: 2 });
  expect(last.rows).toEqual([
    { _row_id: 450_001, a: 1, column_2: 2, column_3: 'late' },
    { _row_id: 450_000, a: 449_999, column_2: '', column_3: '' },
  ]);
});

test('GET / lists the problem of every refused file, and of no other (DS-34, DS-182)', async () => {
  const { body } = await get(shared.reader, '/');
  const { problems } = body as { problems: { resource: string; problem: string }[] };
  const expected = csvCorpus.flatMap((one, index) =>
    'problem' in one ? [`case ${index}.csv`] : [],
  );
  expect(problems.map(({ resource }) => resource)).toEqual(expected.toSorted());
  for (const { resource, problem } of problems) {
    const one = csvCorpus[Number(/\d+/.exec(resource)![0])]!;
    expect(problem).toMatch('problem' in one ? one.problem : /^$/);
  }
});

test('mutants of good files are read or refused, and never hurt the service (B-C)', async () => {
  const seeds = [
    Buffer.from(
      'id,name,flag,x\n1,"a ""quoted"" name",true,0.5\n2,"two\r\nlines",false,1e3\n3,é💥,TRUE,\n',
    ),
    Buffer.from('\ufeffa;b;c\r\n1;2;3\r\n"x;y";;\r\n', 'utf8'),
    Buffer.from('\ufeffa\tb\n1\t2\né\t💥\n', 'utf16le'),
  ];
  const special = [
    0x00, 0x22, 0x2c, 0x0a, 0x0d, 0xff, 0xfe, 0xef, 0xc3, 0x80, 0x3b, 0x09, 0x20, 0x5c,
  ];
  const mutation = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('flip', 'set', 'insert', 'cut', 'splice'),
    value: fc.oneof(fc.constantFrom(...special), fc.integer({ min: 0, max: 255 })),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      async (seed, mutations) => {
        const name = `mutant ${++run % 3}`;
        shared.service.write(`${name}.csv`, mutations.reduce(mutated, seed));
        const answer = await listNoticed(shared.reader, name);
        tellsNothing(answer);
        if (answer.status === 200) {
          expect(answer.total).toBe(answer.rows.length);
          const widths = new Set(answer.rows.map((row) => Object.keys(row).length));
          expect(widths.size).toBeLessThanOrEqual(1);
        } else {
          expect({ status: answer.status, detail: answer.detail }).toEqual({
            status: 422,
            detail: expect.stringContaining(`Cannot read '${name}.csv': `),
          });
        }
      },
    ),
    seeded('mutants of good files', 150),
  );
  await isHealthy();
});

function mutated(
  bytes: Buffer,
  { at, kind, value }: { at: number; kind: string; value: number },
): Buffer {
  const position = at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, position), bytes.subarray(position)];
  switch (kind) {
    case 'flip':
      return Buffer.concat([
        before,
        after.map((byte, index) => (index === 0 ? byte ^ (1 << (value % 8)) : byte)),
      ]);
    case 'set':
      return Buffer.concat([before, Buffer.from([value]), after.subarray(1)]);
    case 'insert':
      return Buffer.concat([before, Buffer.from([value]), after]);
    case 'cut':
      return Buffer.from(before);
    default:
      return Buffer.concat([before, bytes.subarray(value % (bytes.length + 1)), after]);
  }
}
