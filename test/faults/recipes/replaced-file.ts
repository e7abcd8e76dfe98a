/**
 * R3b: another program replaces a file a moment after it was listed, or changed and listed: the next list is of the new
 * version, also over connections of their own, beside other work and on a file system in memory.
 */
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

/** Longest pause before the file is replaced. */
const MOST_PAUSE_MS = 3;
/** How long the control goes without looking at the file. */
const FORGETFUL_MS = 2;
/** More tell nothing new. */
const MOST_FAILURES = 20;
const MEMORY = '/dev/shm';
/** A fresh connection is read as soon as it is accepted, in the midst of other requests. */
const ALONE = { connection: 'close' };

type Ask = (init?: RequestInit) => Promise<Response>;

export const replacedFile: Recipe = {
  id: 'R3b',
  faults: 'F10',
  title: 'a list after a file was replaced has its rows, at whatever distance it was replaced',
  needs: [],
  run: async (trial) => {
    const rounds = trial.times(100, 5_000);
    for (const place of [tmpdir(), ...(existsSync(MEMORY) ? [MEMORY] : [])]) {
      for (const isLoaded of [false, true]) await withService(trial, place, isLoaded, rounds);
    }
  },
  control: {
    title: 'a server that looks at the file now and then is found out',
    run: async (trial) => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-replaced-'));
      const path = join(folder, 't.csv');
      writeFileSync(path, textOf(0));
      const server = forgetfulServer(path);
      try {
        await replaceAgain(trial, path, trial.times(100, 1_000), (init) =>
          fetch(server.url, { ...init, headers: ALONE }),
        );
      } finally {
        await server.stop(true);
        rmSync(folder, { recursive: true });
      }
    },
  },
};

async function withService(
  trial: Trial,
  place: string,
  isLoaded: boolean,
  rounds: number,
): Promise<void> {
  const docroot = mkdtempSync(join(place, 'svc-replaced-'));
  const path = join(docroot, 't.csv');
  try {
    writeFileSync(path, textOf(0));
    await using svc = await startService({ docroot });
    await svc.accounts.user('boss', { superuser: true });
    const client = await svc.as('boss');
    const ask: Ask = (init) => client.fetch('/api/t/', { ...init, headers: ALONE });
    let isOver = false;
    const beside = isLoaded
      ? [1, 2].map(async () => {
          while (!isOver) await (await ask()).body?.cancel();
        })
      : [];
    await replaceAgain(trial, path, rounds, ask);
    isOver = true;
    await Promise.all(beside);
  } finally {
    rmSync(docroot, { recursive: true });
  }
}

async function replaceAgain(trial: Trial, path: string, rounds: number, ask: Ask): Promise<void> {
  const body = JSON.stringify({ action: 'create', data: [{ key: 'new', value: 'x' }] });
  for (let round = 1; round <= rounds && trial.failures.length < MOST_FAILURES; round++) {
    if (trial.random() < 0.5) {
      const { status } = await ask({ method: 'POST', body });
      trial.check(status === 200, `round ${round}: a change was answered ${status}`);
    }
    await (await ask()).text();
    const until = performance.now() + trial.random() * MOST_PAUSE_MS;
    while (performance.now() < until);
    // Of the same size whether a row was added or not.
    const text = trial.random() < 0.5 ? textOf(round) : `${textOf(round)}new,x\n`;
    if (trial.random() < 0.5) writeFileSync(path, text);
    else {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    }
    trial.count('replacements');
    const rows = await (await ask()).text();
    trial.check(rows.includes(valueOf(round)), `round ${round}: the list answered ${rows}`);
  }
}

function textOf(round: number): string {
  return `key,value\nold,${valueOf(round)}\n`;
}

function valueOf(round: number): string {
  return `v${String(round).padStart(6, '0')}`;
}

function forgetfulServer(path: string): Bun.Server<undefined> {
  let text = '';
  let lookedAt = -Infinity;
  return Bun.serve({
    port: 0,
    async fetch(request) {
      if (performance.now() - lookedAt > FORGETFUL_MS) {
        text = await Bun.file(path).text();
        lookedAt = performance.now();
      }
      return new Response(request.method === 'GET' ? text : null);
    },
  });
}
