/**
 * R5 for the state database: the server is killed, at random or at a chosen system call, while API keys are made and
 * revoked. Every acknowledged key opens the door afterwards, every revoked one does not, and the audit knows of all.
 */
import { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../../support/service.ts';
import { AttachedStrace } from '../attached-strace.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const CLIENTS = 4;
const MOST_CHANGES = 40;
const LONGEST_DELAY_MS = 8;
const CALLS = ['pwrite64', 'fsync', 'fcntl', 'sendto'];
const LATEST = 12;
/** Keys of earlier rounds that are tried again. */
const OLD_KEYS = 10;

export const stateKill: Recipe = {
  id: 'R5d',
  faults: 'F1, F2',
  title: 'killed while accounts change, the state keeps every acknowledged change',
  needs: ['strace'],
  run: (trial) => killAmongChanges(trial, trial.times(8, 200), () => {}),
  control: {
    title: 'a state that loses its log after the kill is noticed',
    run: (trial) =>
      killAmongChanges(trial, 3, (stateDir) => {
        for (const end of ['-wal', '-shm']) rmSync(join(stateDir, `svc.db${end}`), { force: true });
      }),
  },
};

/** Keys as acknowledged. A change that was cut off may have happened, and counts for nothing. */
class KeyLedger {
  readonly made = new Map<number, string>();
  readonly revoked = new Map<number, string>();
  changes = 0;

  /** Makes keys and revokes every third of its own, until told to stop or cut off. */
  async change(editor: Client, isOver: () => boolean): Promise<void> {
    try {
      for (let turn = 1; !isOver(); turn++) {
        const { id, key } = await this.#make(editor);
        if (turn % 3 === 0) await this.#revoke(editor, id, key);
      }
    } catch {
      // Cut off: the last change may or may not have happened.
    }
  }

  async #make(editor: Client): Promise<{ id: number; key: string }> {
    const answer = await editor.fetch('/api/apikeys', { method: 'POST', body: '{}' });
    const made = (await answer.json()) as { id: number; key: string };
    if (answer.status !== 201) throw new Error(`${answer.status}`);
    this.made.set(made.id, made.key);
    this.changes++;
    return made;
  }

  async #revoke(editor: Client, id: number, key: string): Promise<void> {
    this.made.delete(id);
    const answer = await editor.fetch(`/api/apikeys/${id}`, { method: 'DELETE' });
    if (answer.status !== 204) throw new Error(`${answer.status}`);
    this.revoked.set(id, key);
    this.changes++;
  }
}

async function killAmongChanges(
  trial: Trial,
  times: number,
  afterKill: (stateDir: string) => void,
): Promise<void> {
  await using service = await startService({ files: { 'a.csv': 'a\n1\n' } });
  await service.accounts.grant('ed', '*', 'read');
  const editor = await service.as('ed');
  await service.accounts.close();
  // Folds what was done so far into the file of the database: only changes from now on are in its log.
  await service.restart();
  const ledger = new KeyLedger();
  for (let time = 1; time <= times && trial.failures.length === 0; time++) {
    await killOnce(trial, service, editor, ledger);
    trial.count('kills');
    afterKill(service.stateDir);
    await service.start();
    await checkKeys(trial, service, ledger, `kill ${time}`);
    const found = auditedChanges(service);
    const { changes } = ledger;
    trial.check(found >= changes, `kill ${time}: ${changes} changes, ${found} in the audit`);
  }
  trial.count('acknowledged changes', ledger.changes);
}

async function killOnce(
  trial: Trial,
  service: Service,
  editor: Client,
  ledger: KeyLedger,
): Promise<void> {
  const goal = ledger.changes + trial.integer(4, MOST_CHANGES);
  const call = `${trial.pick(CALLS)}:signal=SIGKILL:when=${trial.integer(1, LATEST)}`;
  const isChosen = trial.random() < 0.5;
  await using strace = isChosen
    ? await AttachedStrace.attach(service.pid, { injections: [call] })
    : null;
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, () => ledger.change(editor, () => isOver));
  const all = Promise.all(clients).then(() => {
    isOver = true;
  });
  while (ledger.changes < goal && !isOver) await Bun.sleep(1);
  if (isOver) trial.count('of them at a chosen call');
  else await Bun.sleep(trial.random() * LONGEST_DELAY_MS);
  isOver = true;
  await service.kill('SIGKILL');
  await all;
  await strace?.ended();
}

async function checkKeys(
  trial: Trial,
  service: Service,
  { made, revoked }: KeyLedger,
  where: string,
): Promise<void> {
  for (const [keys, expected] of [
    [made, 200],
    [revoked, 401],
  ] as const) {
    const all = [...keys.values()];
    const some = all.slice(-MOST_CHANGES);
    for (let old = 0; old < OLD_KEYS && all.length > 0; old++) some.push(trial.pick(all));
    for (const key of some) {
      const answer = await service.fetch('/api/a/', { headers: { 'X-API-Key': key } });
      await answer.text();
      trial.count('keys tried');
      trial.check(
        answer.status === expected,
        `${where}: a key is answered ${answer.status}, not ${expected}`,
      );
    }
  }
}

function auditedChanges({ stateDir }: Service): number {
  const db = new Database(join(stateDir, 'svc.db'), { readonly: true });
  try {
    const sql = "SELECT count(*) FROM audit WHERE action IN ('create_api_key', 'revoke_api_key')";
    return (db.query(sql).values()[0] as [number])[0];
  } finally {
    db.close();
  }
}
