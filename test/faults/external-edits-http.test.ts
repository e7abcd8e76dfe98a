/**
 * Another program edits a file in every way programs do, while four clients edit it over HTTP with `If-Match` (F10, R8):
 * no edit of either side is lost.
 *
 * The same race is first run against a server that forgets to look, which the check must notice.
 */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { EditorReport } from './racing-editor.ts';

/** At least so many edits of the other program, until so many of the writers were answered 200. */
interface Length {
  readonly edits: number;
  readonly acknowledged: number;
}

const LENGTH: Length = { edits: 200, acknowledged: 40 };
/** The control needs few to be found out. */
const CONTROL_LENGTH: Length = { edits: 60, acknowledged: 8 };
const WRITERS = 4;
const PATH = '/api/t/';
const FILLER_ROWS = 150;
/** The clocks of two processes are read a moment before and after what they time. */
const SLACK_MS = 5;
/** Texts that tell the client to look again: gone for a moment, changed, changing. */
const REFUSALS = [
  'Not Found',
  "Precondition failed: 't' has changed",
  "Resource 't.csv' changed during the write",
  "Resource 't.csv' keeps changing while it is read",
];

const START = [
  'key,value',
  ...Array.from({ length: WRITERS }, (_, writer) => `w${writer},0`),
  'ext,x000000',
  ...Array.from({ length: FILLER_ROWS }, (_, row) => `filler ${row},nothing of importance`),
  '',
].join('\n');

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** An edit that was answered 200. */
interface Acknowledged {
  readonly sentAt: number;
  readonly ackedAt: number;
  /** Whether a text of the file holds it, or a later one of the same row. */
  readonly isIn: (text: string) => boolean;
  readonly name: string;
}

/** What the writers saw. */
class Ledger {
  readonly acknowledged: Acknowledged[] = [];
  readonly statuses = new Map<number, number>();
  readonly unexpected: string[] = [];
  /** Edits that their writer missed when it read again. */
  readonly missed: Acknowledged[] = [];
  readonly #wanted: number;
  readonly #onEnough: () => void;

  constructor(wanted: number, onEnough: () => void) {
    this.#wanted = wanted;
    this.#onEnough = onEnough;
  }

  acknowledge(edit: Acknowledged): void {
    this.acknowledged.push(edit);
    if (this.acknowledged.length === this.#wanted) this.#onEnough();
  }

  answered(status: number, text: string): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const isExpected = status === 200 || REFUSALS.some((refusal) => text.includes(refusal));
    if (!isExpected) this.unexpected.push(`${status}: ${text}`);
  }
}

/** The number a writer has left in its own row. */
function countOf(text: string, writer: number): number {
  return Number(new RegExp(`^w${writer},(\\d+)$`, 'm').exec(text)?.[1] ?? -1);
}

/** Counts up its own row and adds rows in turn, each time on the version it has just read. */
async function write(
  client: Client,
  writer: number,
  ledger: Ledger,
  isOver: () => boolean,
): Promise<void> {
  let last: Acknowledged | null = null;
  for (let count = 1; !isOver(); count++) {
    const read = await client.fetch(PATH);
    const body = await read.text();
    if (read.status !== 200) {
      ledger.answered(read.status, body);
      continue;
    }
    const rows = JSON.parse(body) as { _row_id: number; key: string; value: string }[];
    const seen = rows.map(({ key, value }) => `${key},${value}`).join('\n');
    if (last !== null && !last.isIn(seen)) ledger.missed.push(last);
    last = null;
    const own = rows.find(({ key }) => key === `w${writer}`);
    if (own === undefined) continue;
    const name = `c${writer}-${count}`;
    const isCreate = count % 2 === 0;
    const sentAt = Date.now();
    const answer = await client.fetch(PATH, {
      method: isCreate ? 'POST' : 'PATCH',
      headers: { 'If-Match': read.headers.get('ETag') ?? '' },
      body: JSON.stringify(
        isCreate
          ? { action: 'create', data: [{ key: name, value: '0' }] }
          : { action: 'update', data: { _row_id: own._row_id, value: String(count) } },
      ),
    });
    ledger.answered(answer.status, await answer.text());
    if (answer.status !== 200) continue;
    const row = new RegExp(`^${name},`, 'm');
    last = {
      sentAt,
      ackedAt: Date.now(),
      name: isCreate ? name : `w${writer}=${count}`,
      isIn: (text) => (isCreate ? row.test(text) : countOf(text, writer) >= count),
    };
    ledger.acknowledge(last);
  }
}

interface Outcome {
  readonly lostExternal: readonly string[];
  readonly lostAcknowledged: readonly string[];
  /** Acknowledged edits that the other program saved over with a file it had read before. */
  readonly savedOver: number;
  readonly acknowledged: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly unexpected: readonly string[];
  readonly kinds: ReadonlyMap<string, number>;
}

/** Runs the race; `settle` ends the server and answers the texts of the conflict copies it kept. */
async function race(
  client: Client,
  file: string,
  length: Length,
  settle: () => Promise<string[]>,
): Promise<Outcome> {
  const program = join(import.meta.dir, 'racing-editor.ts');
  const editor = Bun.spawn([process.execPath, program, file, String(length.edits), String(seed)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let isOver = false;
  const output = editor.stdout.text().finally(() => {
    isOver = true;
  });
  const ledger = new Ledger(length.acknowledged, () => void editor.stdin.end());
  await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => write(client, writer, ledger, () => isOver)),
  );
  expect(await editor.exited).toBe(0);
  const reports = (await output)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EditorReport);
  expect(reports.length).toBeGreaterThanOrEqual(length.edits);
  const copies = await settle();
  const text = readFileSync(file, 'utf8');
  const everything = [text, ...copies];

  const isKept = (token: string) => everything.some((one) => one.includes(token));
  const left = reports.filter(({ token }) => token.startsWith('e')).map(({ token }) => token);
  const missing = reports.flatMap((report) => (report.missing === null ? [] : [report.missing]));
  const saves = reports.filter(({ content }) => content !== null);
  const isSavedOver = (edit: Acknowledged) =>
    saves.some(
      ({ readAt, doneAt, content }) =>
        readAt <= edit.ackedAt + SLACK_MS &&
        doneAt >= edit.sentAt - SLACK_MS &&
        !edit.isIn(content!),
    );
  const gone = [
    ...new Set([...ledger.missed, ...ledger.acknowledged.filter((edit) => !edit.isIn(text))]),
  ];
  const kinds = new Map<string, number>();
  for (const { kind } of reports) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return {
    lostExternal: [...left, ...missing].filter((token) => !isKept(token)),
    lostAcknowledged: gone.filter((edit) => !isSavedOver(edit)).map(({ name }) => name),
    savedOver: gone.filter(isSavedOver).length,
    acknowledged: ledger.acknowledged.length,
    statuses: ledger.statuses,
    unexpected: ledger.unexpected,
    kinds,
  };
}

test('the check notices a server that does not look for changes of others', async () => {
  using folder = temporaryFolder({ 't.csv': START });
  const file = folder.at('t.csv');
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'forgetful-server.ts'), file], {
    stdout: 'pipe',
  });
  try {
    const { value } = await server.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    const client: Client = { fetch: (_, init) => fetch(url, init) };
    const { lostExternal, acknowledged } = await race(client, file, CONTROL_LENGTH, async () => []);
    expect(acknowledged).toBeGreaterThanOrEqual(CONTROL_LENGTH.acknowledged);
    expect({ seed, isNoticed: lostExternal.length > 0 }).toEqual({ seed, isNoticed: true });
  } finally {
    server.kill('SIGKILL');
    await server.exited;
  }
});

test(`${LENGTH.edits} edits and more of another program and all acknowledged ones survive each other (F10)`, async () => {
  await using service = await startService({ files: { 't.csv': START } });
  await service.accounts.grant('writer', '*', 'read', 'write');
  const client = await service.as('writer');
  const file = join(service.docroot, 't.csv');
  const outcome = await race(client, file, LENGTH, async () => {
    expect(await service.kill('SIGTERM')).toBe(0);
    const folder = join(service.stateDir, 'replaced');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  });
  const { lostExternal, lostAcknowledged, unexpected, acknowledged, savedOver, statuses, kinds } =
    outcome;
  console.log(
    `SEED=${seed}: ${acknowledged} acknowledged, ${savedOver} saved over by the other program; answers`,
    Object.fromEntries(statuses),
    'edits',
    Object.fromEntries(kinds),
  );
  const failures = service
    .stderr()
    .split('\n')
    .filter((line) => line.includes('request failed'));
  expect({ seed, lostExternal, lostAcknowledged, unexpected, failures }).toEqual({
    seed,
    lostExternal: [],
    lostAcknowledged: [],
    unexpected: [],
    failures: [],
  });
  expect(acknowledged).toBeGreaterThanOrEqual(LENGTH.acknowledged);
  expect(savedOver).toBeLessThan(acknowledged / 4);
  expect(statuses.get(412) ?? 0).toBeGreaterThan(0);
  expect(readdirSync(service.docroot).filter((name) => /\.tmp$|\.swap/.test(name))).toEqual([]);

  // What is served afterwards is what the file holds.
  await service.start();
  const rows = (await (await client.fetch(PATH)).json()) as { key: string; value: string }[];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
  expect(rows.map(({ key, value }) => `${key},${value}`)).toEqual(lines);
});
