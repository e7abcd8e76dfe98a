/**
 * F17 for any bytes at all: files of every kind of dataset with flipped bits, other lengths, missing, repeated and blanked
 * pieces.
 *
 * Each is read or refused with a reason, in time; it stays as it is, the server stays up, and its other files and /health
 * answer meanwhile.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onSharedCores } from '../../support/patience.ts';
import { startService } from '../../support/service.ts';
import type { Client, Service } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { mutated, type SeedFile, seedFiles } from '../file-mutations.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

/** Read at the same time: more than there are workers. */
const AT_ONCE = 4;
/** A worker is stopped after its own, longer limit; a small file has no need of it. */
const ANSWER_LIMIT_MS = 10_000;
const SHEETS = ['', '/Stock', '/Sums', '/Data'];

export const mutatedFiles: Recipe = {
  id: 'F17c',
  faults: 'F17',
  title: 'any bytes at all give rows or a reason, in time, and harm nothing',
  needs: [],
  run: async (trial) => {
    const seeds = await seedFiles();
    const files = Object.fromEntries(
      seeds.map(({ extension, content }, slot) => [`m${slot}${extension}`, content]),
    );
    await using service = await startService({
      files: { ...files, 'canary.csv': 'name\ncanary\n' },
    });
    await service.accounts.grant('reader', '*', 'read');
    const client = await service.as('reader');
    const { pid } = service;
    for (let round = trial.times(6, 450); round > 0; round--) {
      for (let from = 0; from < seeds.length; from += AT_ONCE) {
        const some = seeds.slice(from, from + AT_ONCE);
        const reads = some.map((seed) =>
          readMutant(trial, service, client, seed, seeds.indexOf(seed)),
        );
        await Promise.all([...reads, health(trial, service)]);
      }
      const canary = await client.fetch('/api/canary/');
      trial.check(canary.status === 200, `the canary answers ${canary.status}`);
    }
    trial.check(service.pid === pid, 'the server is another one');
    const errors = service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    for (const line of errors) trial.fail(line);
  },
  control: {
    title: 'a public library without limits fails by accident on some of them',
    run: async (trial) => {
      using folder = temporaryFolder();
      const seeds = (await seedFiles()).filter(({ extension }) => extension === '.parquet');
      const paths = Array.from({ length: 120 }, (_, index) =>
        folder.write(`${index}.parquet`, mutated(seeds[index % seeds.length]!, trial)),
      );
      const reader = join(import.meta.dir, '..', 'trusting-reader.ts');
      const child = Bun.spawn([process.execPath, reader, ...paths], {
        stderr: 'pipe',
        timeout: onSharedCores(ANSWER_LIMIT_MS),
      });
      const outcomes = (await child.stdout.text()).trim().split('\n');
      trial.check(outcomes.length === paths.length, 'the reader did not come back');
      for (const one of outcomes) trial.check(one === 'rows' || one === 'refused', one);
    },
  },
};

async function readMutant(
  trial: Trial,
  service: Service,
  client: Client,
  seed: SeedFile,
  slot: number,
): Promise<void> {
  const name = `m${slot}${seed.extension}`;
  const path = join(service.docroot, name);
  writeFileSync(path, mutated(seed, trial));
  const before = stateOf(path);
  const statuses: number[] = [];
  for (const sheet of seed.extension.startsWith('.xls') ? SHEETS : ['']) {
    const address = `/api/${name}${sheet}/?limit=20`;
    const answer = await inTime((signal) => client.fetch(address, { signal }));
    const text = (await answer?.text()) ?? '';
    statuses.push(answer?.status ?? 0);
    // 409: it was noticed while it was being written. 404: it has no such sheet, or no name yet.
    const isGood = answer !== null && [200, 404, 409, 422].includes(answer.status);
    trial.check(
      isGood,
      `${seed.name}${sheet}: answered ${answer?.status ?? 'nothing in time'}: ${text.slice(0, 200)}`,
    );
    trial.check(!/\/tmp|\bat \S+:\d+|SQLITE/.test(text), `${seed.name}: ${text.slice(0, 200)}`);
  }
  trial.check(stateOf(path) === before, `${seed.name}: reading changed the file`);
  trial.count('files');
  trial.count(
    statuses.includes(200) ? 'read' : statuses.includes(422) ? 'refused' : 'without a table',
  );
}

/** Null when there is no answer within the limit, or none at all. */
async function inTime(ask: (signal: AbortSignal) => Promise<Response>): Promise<Response | null> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), onSharedCores(ANSWER_LIMIT_MS));
  try {
    return await ask(patience.signal);
  } catch {
    // The caller says so.
    return null;
  } finally {
    clearTimeout(timer);
  }
}

async function health(trial: Trial, service: Service): Promise<void> {
  const started = performance.now();
  const { status } = await service.fetch('/health');
  trial.countMost('slowest /health, ms', Math.round(performance.now() - started));
  trial.check(status === 200, `/health answers ${status}`);
}

function stateOf(path: string): string {
  const { ino, mtimeMs, ctimeMs } = statSync(path);
  return `${ino} ${mtimeMs} ${ctimeMs} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
}
