/**
 * Sealing under kill -9 (EV-111): whoever seals is killed at each call that touches the state folder, one run after the
 * other. Whoever reads then, before and after the store is opened again, finds every event once, in its order.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readParts } from '../../../src/events/parts/manifest.ts';
import { NO_HINT } from '../../../src/events/parts/group-rows.ts';
import { EventReader } from '../../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../../src/events/store/schema.ts';
import { EventStore } from '../../../src/events/store/store.ts';
import { draftEvent } from '../../events/draft-event.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.ts';
import type { Recipe } from '../recipe.ts';
import { Trial } from '../trial.ts';

const PROGRAM = join(import.meta.dir, '../sealing-program.ts');
const EVENTS = 40;
/** All by which a file is made, written, named, read or removed. */
const CALLS =
  'openat,pwrite64,write,fsync,fdatasync,rename,renameat2,link,unlink,ftruncate,mkdir,pread64,close';
const SOME = 24;

type Mode = 'careful' | 'careless';

/** The n-th call of that name. */
interface Place {
  readonly call: string;
  readonly nth: number;
}

export const sealKill: Recipe = {
  id: 'R5s',
  faults: 'F1',
  title: 'killed at any call of sealing, no event is lost or doubled for any reader',
  needs: ['strace'],
  run: (trial) => killWhileSealing(trial, 'careful', trial.times(SOME, Infinity)),
  control: {
    title: 'a sealer that deletes rows before their part is listed is noticed',
    run: async (trial) => {
      const inner = new Trial('long', trial.seed);
      await killWhileSealing(inner, 'careless', Infinity);
      for (const text of inner.failures.slice(0, 3)) trial.fail(text);
    },
  },
};

async function killWhileSealing(trial: Trial, mode: Mode, most: number): Promise<void> {
  using folder = temporaryFolder();
  const origin = folder.at('origin');
  makeStore(origin);
  const expected = eventsIn(origin);
  const whole = folder.at('whole');
  cpSync(origin, whole, { recursive: true });
  const places = await callsOf(folder, whole, mode);
  trial.check(partsIn(whole) > 0, 'nothing was sealed');
  trial.count('calls', places.length);
  const chosen = places.filter(
    () => most >= places.length || trial.random() < most / places.length,
  );
  for (const { call, nth } of chosen) {
    if (mode === 'careless' && trial.failures.length > 0) return;
    const stateDir = folder.at(`${call}-${nth}`);
    cpSync(origin, stateDir, { recursive: true });
    const injected = `inject=${call}:signal=SIGKILL:when=${nth}`;
    const { output } = await straced(['-e', `trace=${call}`, '-e', injected], stateDir, mode);
    trial.count(output.includes('done') ? 'runs to the end' : 'kills');
    const where = `killed at ${call} ${nth}`;
    trial.check(eventsIn(stateDir) === expected, `${where}: a reader finds other events`);
    // What was broken off is removed, and the next one goes on.
    const store = new EventStore(join(stateDir, EVENTS_FILE));
    store.sealed.recover(Date.now() * 1000);
    const known = new Set([
      ...readParts(store.db).map(({ file }) => file),
      ...(store.db.query('SELECT file FROM parts_dropped').values() as string[][]).flat(),
    ]);
    store.close();
    const left = filesIn(stateDir).filter((file) => !known.has(file));
    trial.check(left.length === 0, `${where}: ${left.join(', ')} belong to nothing`);
    trial.check(eventsIn(stateDir) === expected, `${where}: other events after the next start`);
  }
}

function makeStore(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true });
  const store = new EventStore(join(stateDir, EVENTS_FILE));
  const drafts = Array.from({ length: EVENTS }, (_, at) =>
    draftEvent({ index: at % 3 === 0 ? 'web' : 'auth', data: `line ${at}`, fields: `{"n":${at}}` }),
  );
  store.begin();
  store.insert(drafts, Date.now() * 1000 - 1_000_000);
  store.commit();
  store.close();
}

/** All of them, by id, newest first, and in numbers. */
function eventsIn(stateDir: string): string {
  const reader = new EventReader(stateDir);
  try {
    return reader.snapshot(() => {
      const all = { where: () => ({ sql: '1', params: [] }), hint: NO_HINT };
      const columns = 'id, "index", data, json(fields) AS fields, created, updated';
      const rows = (['id', 'time DESC, id DESC'] as const).map((order) => [
        ...Iterator.from(reader.rows<Record<string, unknown>>(columns, order, all)).map(
          ({ id, index, data, fields, created, updated }) =>
            [id, index, data, fields, created, updated].join('|'),
        ),
      ]);
      return JSON.stringify([
        rows,
        reader.count({ ...all, isHinted: true }),
        reader.sealed.problems,
      ]);
    });
  } finally {
    reader.close();
  }
}

function partsIn(stateDir: string): number {
  const reader = new EventReader(stateDir);
  const { length } = reader.snapshot(() => reader.sealed.parts);
  reader.close();
  return length;
}

function filesIn(stateDir: string): string[] {
  const folder = join(stateDir, 'events');
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  } catch {
    return [];
  }
}

/** Those of the main thread that concern the folder, numbered as `when` counts them. */
async function callsOf(folder: TemporaryFolder, stateDir: string, mode: Mode): Promise<Place[]> {
  const trace = folder.at('trace');
  const { output } = await straced(['-y', '-o', trace, '-e', `trace=${CALLS}`], stateDir, mode);
  if (!output.includes('done')) throw new Error(`the program did not end: ${output}`);
  const counts = new Map<string, number>();
  const places: Place[] = [];
  let main: string | null = null;
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (thread === undefined || call === undefined) continue;
    main ??= thread;
    if (thread !== main) continue;
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    if (line.includes(stateDir)) places.push({ call, nth });
  }
  return places;
}

async function straced(
  options: readonly string[],
  stateDir: string,
  mode: Mode,
): Promise<{ output: string }> {
  const quiet = options.includes('-o') ? [] : ['-o', '/dev/null'];
  const child = Bun.spawn(
    ['strace', '-f', '-qq', ...quiet, ...options, process.execPath, PROGRAM, stateDir, mode],
    { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' },
  );
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  return { output: output + errors };
}
