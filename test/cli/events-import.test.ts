/**
 * `svc events import` and `svc events prune` beside a running server (EV-83 to EV-85, EV-108).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { eventually } from '../http/eventually.ts';
import type { Client, Service } from '../support/service.ts';
import { program, startService } from '../support/service.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    config: {
      events: {
        min_free_bytes: 1,
        retention: { interval_seconds: 86_400, indexes: { small: { max_bytes: 2_000 } } },
      },
    },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

const file = (name: string): string => join(svc.docroot, '..', name);
const config = (): string => file('svc.yaml');
const command = (...args: string[]) =>
  svc.command(['events', args[0]!, svc.docroot, ...args.slice(1), '--config', config()]);

async function events(query: string): Promise<Record<string, unknown>[]> {
  const response = await root.fetch(`/api/events/?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>[];
}

describe('import', () => {
  test('stores event objects with the flags as defaults, and names the lines it left out', async () => {
    const lines = ['{"data":"one"}', '', 'no json', '{"data":"two","index":"own"}', '{"data":""}'];
    writeFileSync(file('objects.ndjson'), lines.join('\n'));
    const { exitCode, stdout, stderr } = await command(
      'import',
      file('objects.ndjson'),
      '--index',
      'imported',
      '--host',
      'box',
    );
    expect(exitCode).toBe(1);
    expect(stdout).toContain('2 event(s) imported, 2 line(s) left out');
    expect(stderr).toMatch(/objects\.ndjson:3: .*JSON parse error/);
    expect(stderr).toMatch(/objects\.ndjson:5: .*may not be blank/);
    expect(await events('host=box')).toMatchObject([
      { index: 'imported', data: 'one' },
      { index: 'own', data: 'two' },
    ]);
  });

  test.each([
    ['plain.log', (text: string) => Buffer.from(text)],
    ['packed.log.gz', (text: string) => gzipSync(text)],
    ['packed.log.zst', (text: string) => zstdCompressSync(text)],
  ])('takes plain lines of %s, with what their sourcetype yields', async (name, pack) => {
    const text = Array.from({ length: 12_000 }, (_, at) => `level=warn n=${at}\r\n`).join('');
    writeFileSync(file(name), pack(text));
    const args = ['--lines', '--sourcetype', 'kv', '--index', name];
    const { exitCode, stdout, stderr } = await command('import', file(name), ...args);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('12000 event(s) imported');
    const [newest] = await events(`index=${name}&ordering=-id&limit=1`);
    expect(newest).toMatchObject({
      data: 'level=warn n=11999',
      extracted_fields: { level: 'warn', n: 11_999 },
    });
  });

  test('cuts nothing but line ends from plain lines, also of standard input', async () => {
    const text = '  padded \r\nx=1\t\n\n \t\nlast';
    writeFileSync(file('padded.log'), text);
    const args = ['--lines', '--sourcetype', 'kv', '--index'];
    expect((await command('import', file('padded.log'), ...args, 'padded')).exitCode).toBe(0);
    const piped = Bun.spawnSync(
      [...program(), 'events', 'import', svc.docroot, '-', ...args, 'piped', '--config', config()],
      { stdin: Buffer.from(text) },
    );
    expect([piped.exitCode, piped.stdout.toString()]).toEqual([0, '-: 3 event(s) imported\n']);
    for (const index of ['padded', 'piped']) {
      const found = await events(`index=${index}`);
      expect(found.map(({ data, host, source }) => [data, host, source])).toEqual(
        ['  padded ', 'x=1\t', 'last'].map((data) => [data, 'default', 'default']),
      );
    }
    const resumed = await command('import', '-', '--resume');
    expect([resumed.exitCode, resumed.stderr]).toEqual([2, expect.stringContaining('--resume')]);
  });

  test('reads files that begin with the mark of UTF-8, and refuses UTF-16 whole', async () => {
    const marked =
      '\ufeff{"data":"first","host":"marked"}\r\n{"data":"second","host":"marked"}\r\n';
    for (const [name, bytes] of [
      ['marked.ndjson', Buffer.from(marked)],
      ['marked.ndjson.gz', gzipSync(Buffer.from(marked))],
    ] as const) {
      writeFileSync(file(name), bytes);
      const { exitCode, stderr } = await command('import', file(name));
      expect([exitCode, stderr]).toEqual([0, '']);
    }
    const found = await events('host=marked');
    expect(found.map(({ data }) => data)).toEqual(['first', 'second', 'first', 'second']);
    writeFileSync(file('wide.log'), Buffer.from('\ufeffa line\n', 'utf16le'));
    const { exitCode, stderr } = await command('import', file('wide.log'), '--lines');
    expect(stderr).toContain('the file is UTF-16: write it as UTF-8');
    expect(exitCode).toBe(1);
  });

  test('goes on behind the last stored line with --resume, whatever cut it off', async () => {
    const lines = Array.from({ length: 7_000 }, (_, at) => JSON.stringify({ data: `r${at}` }));
    const packed = gzipSync(lines.join('\n'));
    // A half of the packed file: cut off in the middle, as a broken copy is.
    writeFileSync(file('cut.gz'), packed.subarray(0, Math.floor(packed.length * 0.9)));
    const cut = await command('import', file('cut.gz'), '--index', 'resumed');
    expect(cut.exitCode).toBe(1);
    expect(cut.stderr).toContain('--resume goes on behind them');
    writeFileSync(file('cut.gz'), packed);
    const again = await command('import', file('cut.gz'), '--index', 'resumed', '--resume');
    expect([again.exitCode, again.stderr]).toEqual([0, '']);
    const stored = await events('index=resumed');
    expect(stored.map(({ data }) => data)).toEqual(lines.map((line) => JSON.parse(line).data));
    const third = await command('import', file('cut.gz'), '--index', 'resumed', '--resume');
    expect(third.stdout).toContain(': 0 event(s) imported');
  });

  test('takes what a file grew by, and refuses another file in its place', async () => {
    writeFileSync(file('grows.log'), 'first\nsecond\n');
    const args = [file('grows.log'), '--lines', '--index', 'grown', '--resume'];
    await command('import', ...args);
    appendFileSync(file('grows.log'), 'third\n');
    expect((await command('import', ...args)).stdout).toContain(': 1 event(s) imported');
    expect((await events('index=grown')).map(({ data }) => data)).toEqual([
      'first',
      'second',
      'third',
    ]);
    writeFileSync(file('grows.log'), 'other\n');
    const refused = await command('import', ...args);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('without --resume');
  });

  test('is heard by live tails of the server', async () => {
    const stop = new AbortController();
    const { body } = await root.fetch('/api/events/tail?index=heard', { signal: stop.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of body!) text += new TextDecoder().decode(chunk as Uint8Array);
    })().catch(() => undefined);
    await eventually(() => expect(text).toContain('id: '));
    writeFileSync(file('heard.log'), 'heard by the tail\n');
    await command('import', file('heard.log'), '--lines', '--index', 'heard');
    await eventually(() => expect(text).toContain('heard by the tail'));
    stop.abort();
    await reading;
  });

  test('works in a folder that was never served', async () => {
    mkdirSync(file('fresh'));
    writeFileSync(file('fresh.log'), 'a\nb\n');
    const args = ['events', 'import', file('fresh'), file('fresh.log'), '--lines'];
    const { exitCode, stdout } = await svc.command([...args, '--config', config()]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(': 2 event(s) imported')]);
    const stats = await svc.command(['events', 'stats', file('fresh'), '--json']);
    expect(JSON.parse(stats.stdout)).toMatchObject([{ index: 'default', events: 2 }]);
  });

  test.each([
    [['import'], 2, 'a file to import is needed'],
    [['import', 'nowhere.log'], 1, 'cannot be read'],
  ])('%j is refused', async (args, code, text) => {
    const { exitCode, stderr } = await command(...args);
    expect(exitCode).toBe(code);
    expect(stderr).toContain(text);
  });
});

describe('prune', () => {
  test('compact gives back what nothing uses, beside the server', async () => {
    const { exitCode, stdout } = await command('compact', '--json');
    expect(exitCode).toBe(0);
    const { before, after } = JSON.parse(stdout) as { before: number; after: number };
    expect([after > 0, after <= before]).toEqual([true, true]);
    const init = { method: 'POST', body: '{"data":"x","index":"compacted"}' };
    const headers = { 'Content-Type': 'application/json' };
    expect((await root.fetch('/api/events/', { ...init, headers })).status).toBe(201);
  });

  const post = async (body: unknown): Promise<void> => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    expect((await root.fetch('/api/events/', init)).status).toBe(201);
  };

  test('applies the rules, and tells before with --dry-run what would go', async () => {
    await post(
      Array.from({ length: 30 }, (_, at) => ({ index: 'small', data: `${at} ${'x'.repeat(70)}` })),
    );
    const dry = await command('prune', '--dry-run', '--json');
    expect((await events('index=small')).length).toBe(30);
    const done = await command('prune', '--json');
    expect([done.exitCode, done.stderr]).toEqual([0, '']);
    expect(JSON.parse(done.stdout)).toEqual(JSON.parse(dry.stdout));
    const [{ events: gone, rule, index }] = JSON.parse(done.stdout);
    expect([index, rule]).toEqual(['small', 'size']);
    expect((await events('index=small')).length).toBe(30 - gone);
    const answer = await root.fetch('/admin/audit-logs?action=events_prune');
    const audit = (await answer.json()) as unknown[];
    expect(audit[0]).toMatchObject({
      resource: '@events/small',
      details: expect.stringMatching(/^Deleted \d+ events, \d+ bytes, .* rule size/),
    });
    expect((await command('prune')).stdout).toBe('Nothing to delete.\n');
  });

  test('deletes an index, or only what is old in it', async () => {
    await post([{ index: 'chosen', data: 'a' }, { data: 'stays' }]);
    const young = await command('prune', '--index', 'chosen', '--older-than', '1d', '--yes');
    expect(young.stdout).toBe('Nothing to delete.\n');
    const dry = await command('prune', '--index', 'chosen', '--dry-run');
    expect(dry.stdout).toMatch(/^index +events +bytes +oldest +newest +rule\nchosen +1 /);
    expect((await command('prune', '--index', 'chosen', '--yes')).exitCode).toBe(0);
    expect(await events('index=chosen')).toEqual([]);
    expect((await events('search=stays')).length).toBe(1);
  });

  test('--query deletes what it matches, once it is confirmed', async () => {
    await post(
      Array.from({ length: 2_500 }, (_, n) => ({
        index: 'asked',
        data: `n=${n}`,
        sourcetype: 'kv',
      })),
    );
    const args = ['--index', 'asked', '--query', 'where n < 2100'];
    const refused = await command('prune', ...args);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      '--query: needs --yes where no terminal can ask\n',
    ]);
    const dry = await command('prune', ...args, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject([{ index: 'asked', events: 2100, rule: 'query' }]);
    const done = await command('prune', ...args, '--yes', '--json');
    expect(JSON.parse(done.stdout)).toEqual(JSON.parse(dry.stdout));
    expect((await events('index=asked')).length).toBe(400);
    const wrong = await command('prune', '--query', 'stats count', '--yes');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('not this stats')]);
  });

  test('--older-than takes days', async () => {
    const { exitCode, stderr } = await command('prune', '--older-than', '3');
    expect([exitCode, stderr]).toEqual([2, "--older-than: must be days such as 30d, not '3'\n"]);
  });
});
