/**
 * R5v: the server is killed at a chosen system call while a file is replaced by uploads and put back from its history.
 *
 * Every content is used once, so that afterwards the file and its history must tell one story: each version that the
 * file had, in order, what each change replaced, and no change that was not made.
 */
import { Database } from 'bun:sqlite';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onSharedCores } from '../../support/patience.ts';
import { type Client, startService } from '../../support/service.ts';
import { AttachedStrace } from '../attached-strace.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const CALLS = ['openat', 'pwrite64', 'fsync', 'rename', 'renameat2', 'unlink', 'close'] as const;
const LATEST = 6;
const REACHED_WITHIN_MS = 4_000;
/** One in so many changes puts a former version in place. */
const RESTORE_EACH = 3;

export const versionKill: Recipe = {
  id: 'R5v',
  faults: 'F2',
  title: 'killed while files are replaced and put back, history and file tell the same',
  needs: ['strace'],
  run: (trial) => killAmongVersions(trial, CALLS, trial.times(1, 12), () => {}),
  control: {
    title: 'a history that takes begun changes for made ones is noticed',
    run: (trial) =>
      killAmongVersions(trial, ['renameat2'], 3, (stateDir) => {
        const db = new Database(join(stateDir, 'svc.db'));
        db.run(`UPDATE changes SET state = 'made'`);
        db.close();
      }),
  },
};

interface Entry {
  readonly id: number;
  readonly state: string;
  readonly version: { readonly sha256: string } | null;
}

async function killAmongVersions(
  trial: Trial,
  calls: readonly string[],
  times: number,
  tamper: (stateDir: string) => void,
): Promise<void> {
  await using service = await startService({
    files: { 'v.txt': 'version 0\n' },
    config: { upload: { enabled: true } },
  });
  await service.accounts.grant('ed', '*', 'read', 'write');
  await service.accounts.grant('ed', '', 'write');
  const client = await service.as('ed');
  await service.accounts.close();
  /** Every content the file had. */
  const story = ['version 0\n'];
  let made = 0;
  for (const call of calls) {
    for (let time = 0; time < times && trial.failures.length === 0; time++) {
      const nth = call === 'renameat2' ? trial.integer(1, 2) : trial.integer(1, LATEST);
      const where = `${call} ${nth}`;
      const strace = await AttachedStrace.attach(service.pid, {
        injections: [`${call}:signal=SIGKILL:when=${nth}`],
      });
      const until = performance.now() + onSharedCores(REACHED_WITHIN_MS);
      let next = '';
      let isKilled = false;
      while (!isKilled && performance.now() < until) {
        const isRestore = trial.integer(1, RESTORE_EACH) === 1 && story.length > 2;
        next = isRestore ? story.at(-2)! : `version ${(made += 1)} of ${trial.seed}\n`;
        const status = await (isRestore ? restore(client) : upload(client, next)).catch(() => 0);
        isKilled = status === 0;
        if (status === 200 || status === 201) story.push(next);
        else if (!isKilled) trial.fail(`${where}: answered ${status}`);
      }
      if (!isKilled) {
        trial.count(`${call} not reached`);
        await strace[Symbol.asyncDispose]();
        continue;
      }
      await service.kill('SIGKILL');
      await strace.ended();
      await strace[Symbol.asyncDispose]();
      trial.count(`kills at ${call}`);
      const present = readFileSync(join(service.docroot, 'v.txt'), 'utf8');
      if (present === next && present !== story.at(-1)) story.push(next);
      tamper(service.stateDir);
      await service.start();
      await verify(trial, where, { client, story, present, stateDir: service.stateDir });
    }
  }
  trial.count('versions', story.length);
}

async function upload(client: Client, content: string): Promise<number> {
  const form = new FormData();
  form.set('filename', 'v.txt');
  form.set('file', new File([content], 'v.txt'));
  return (await client.fetch('/api/uploads', { method: 'POST', body: form })).status;
}

/** What the newest change replaced. */
async function restore(client: Client): Promise<number> {
  const [newest] = (await (await client.fetch('/api/v.txt/history?limit=1')).json()) as Entry[];
  const body = JSON.stringify({ content: newest!.id - 1 });
  return (await client.fetch('/api/v.txt/history', { method: 'POST', body })).status;
}

async function verify(
  trial: Trial,
  where: string,
  {
    client,
    story,
    present,
    stateDir,
  }: { client: Client; story: readonly string[]; present: string; stateDir: string },
): Promise<void> {
  trial.check(present === story.at(-1), `${where}: the file holds ${present.trim()}`);
  const entries = (await (await client.fetch('/api/v.txt/history?limit=200')).json()) as Entry[];
  const hashOf = (text: string): string =>
    new Bun.CryptoHasher('sha256').update(text).digest('hex');
  const kept = entries.map(({ version }) => version?.sha256 ?? '').reverse();
  const expected = story.slice(0, -1).map(hashOf).slice(-200);
  trial.check(
    JSON.stringify(kept) === JSON.stringify(expected),
    `${where}: ${kept.length} versions in the history, ${expected.length} were replaced`,
  );
  for (const { id, state } of entries) {
    trial.check(state === 'made', `${where}: change ${id} is ${state}`);
  }
  const [newest] = entries;
  if (newest === undefined) return;
  for (const [id, text] of [
    [newest.id, present],
    [newest.id - 1, story.at(-2)!],
  ] as const) {
    const answer = await client.fetch(`/api/v.txt/history?content=${id}`);
    const found = await answer.text();
    trial.check(found === text, `${where}: after change ${id} it was ${found.trim()}`);
  }
  const versions = readdirSync(join(stateDir, 'versions'));
  for (const hash of new Set(expected)) {
    trial.check(versions.includes(`${hash}.zst`), `${where}: a version is lost`);
  }
}
