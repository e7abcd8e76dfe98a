/**
 * Acknowledged means durable (DS-84, DS-48): the server is killed in the middle of concurrent edits, again and again,
 * and every edit it had answered is in the file, every row has its id, and nothing else changed.
 *
 * Random kills alone prove little, so the same check is first run against a server that answers too early.
 */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROWS = 400;
const WRITERS = 8;
const EDITS_WANTED = 1_000;
const MAX_CYCLES = 60;

const table = (): string =>
  `key,value\n${Array.from({ length: ROWS }, (_, index) => `k${index + 1},0`).join('\n')}\n`;

/** What the writers sent and what was answered, by row id. */
class Ledger {
  readonly sent = new Map<number, number>();
  readonly acked = new Map<number, number>();
  answered = 0;

  /** Rows whose value in the file is older than an acknowledged one, or was never sent. */
  wrong(values: ReadonlyMap<number, number>): string[] {
    return [...this.sent].flatMap(([row, sent]) => {
      const value = values.get(row) ?? -1;
      const least = this.acked.get(row) ?? 0;
      return value >= least && value <= sent ? [] : [`row ${row}: ${least} <= ${value} <= ${sent}`];
    });
  }
}

/** Counts up its own rows until a request fails, which is what a killed server looks like. */
async function write(client: Client, path: string, writer: number, ledger: Ledger): Promise<void> {
  for (let round = 0; ; round++) {
    const row = 1 + ((writer + round * WRITERS) % ROWS);
    const value = (ledger.sent.get(row) ?? 0) + 1;
    ledger.sent.set(row, value);
    try {
      const answer = await client.fetch(path, {
        method: 'PATCH',
        body: JSON.stringify({ action: 'update', data: { _row_id: row, value } }),
      });
      if (answer.status !== 200) return;
      await answer.text();
    } catch {
      // The connection broke: the server was killed, and this edit may or may not have happened.
      return;
    }
    ledger.acked.set(row, value);
    ledger.answered++;
  }
}

function valuesIn(text: string): Map<number, number> {
  const lines = text.trimEnd().split('\n').slice(1);
  return new Map(lines.map((line, index) => [index + 1, Number(line.split(',')[1])]));
}

test('the check notices a server that answers before it has written', async () => {
  using folder = temporaryFolder();
  const path = folder.at('t.csv');
  await Bun.write(path, table());
  const ledger = new Ledger();
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'careless-server.ts'), path], {
    stdout: 'pipe',
  });
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const client: Client = { fetch: (_, init) => fetch(url, init) };
  const writers = Array.from({ length: WRITERS }, (_, index) => write(client, '/', index, ledger));
  while (ledger.answered < 200) await Bun.sleep(1);
  server.kill('SIGKILL');
  await Promise.all(writers);
  expect(ledger.wrong(valuesIn(readFileSync(path, 'utf8')))).not.toEqual([]);
});

test('a thousand concurrent edits under kill -9 lose no acknowledged one and no row id', async () => {
  await using svc = await startService({ files: { 't.csv': table() } });
  await svc.accounts.grant('ed', 't', 'read', 'write');
  const editor = await svc.as('ed');
  // Ids that differ from positions: they must come through the kills too.
  await editor.fetch('/api/t/', {
    method: 'POST',
    body: JSON.stringify({ action: 'create', data: [{ key: 'gone' }, { key: 'kept' }] }),
  });
  await editor.fetch('/api/t/', {
    method: 'DELETE',
    body: JSON.stringify({ action: 'delete', data: { _row_id: ROWS + 1 } }),
  });
  const ledger = new Ledger();
  let cycles = 0;
  while (ledger.answered < EDITS_WANTED && cycles < MAX_CYCLES) {
    const before = ledger.answered;
    const goal = before + 20 + ((cycles * 37) % 60);
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      write(editor, '/api/t/', index, ledger),
    );
    while (ledger.answered < goal) await Bun.sleep(1);
    await svc.kill('SIGKILL');
    await Promise.all(writers);
    expect(ledger.wrong(valuesIn(readFileSync(join(svc.docroot, 't.csv'), 'utf8')))).toEqual([]);
    await svc.start();
    const rows = (await (await editor.fetch('/api/t/')).json()) as Record<string, unknown>[];
    expect(rows.length).toBe(ROWS + 1);
    expect(rows.at(-1)).toMatchObject({ _row_id: ROWS + 2, key: 'kept' });
    expect(rows[41]).toMatchObject({ _row_id: 42, key: 'k42' });
    cycles++;
  }
  expect(ledger.answered).toBeGreaterThanOrEqual(EDITS_WANTED);
  expect(readdirSync(svc.docroot).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  console.log(`${ledger.answered} acknowledged edits, ${cycles} kills`);
}, 120_000);
