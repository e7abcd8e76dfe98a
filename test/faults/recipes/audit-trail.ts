/**
 * R15: an audit that somebody changed is found out by `svc check`, and neither audit nor log holds a secret that was used
 * or a line that a client made up.
 */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type Service, startService } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';
import { PASSWORD } from '../../support/password.ts';

const FORGED = '{"level":"error","message":"forged"}';

/** What somebody with access to the database may do, and what the check says of it. */
const TAMPERINGS = [
  ["UPDATE audit SET details = 'nothing' WHERE id = ?", 'a changed entry'],
  ['UPDATE audit SET actor_id = NULL, user_id = NULL WHERE id = ?', 'another actor'],
  ['DELETE FROM audit WHERE id = ?', 'a removed entry'],
  ['DELETE FROM audit WHERE id > ?', 'entries removed at the end'],
  ['UPDATE audit SET hash = NULL WHERE id = ?', 'an entry without its hash'],
  [
    "UPDATE audit SET timestamp = (SELECT timestamp FROM audit ORDER BY id DESC LIMIT 1) || '' , action = 'login' WHERE id = ?",
    'an entry in the place of another',
  ],
] as const;

export const auditTrail: Recipe = {
  id: 'R15',
  faults: 'F16, S-L1 to S-L3',
  title: 'a changed audit is found out, and neither audit nor log holds a secret or a forged line',
  needs: [],
  run: async (trial) => {
    await using service = await startService({ files: { 't.csv': 'a\n1\n' } });
    const secrets = await useSecrets(service);
    checkTexts(trial, service.stderr(), secrets);
    await service.kill('SIGTERM');
    checkTexts(trial, auditText(service), secrets);
    const before = await service.command(['check', service.docroot]);
    trial.check(before.exitCode === 0, `before: ${before.stdout}${before.stderr}`);
    for (const tampering of trial.size === 'short' ? TAMPERINGS.slice(0, 5) : TAMPERINGS) {
      await tamper(trial, service, tampering);
    }
    const after = await service.command(['check', service.docroot]);
    trial.check(after.exitCode === 0, `after: ${after.stdout}${after.stderr}`);
  },
  control: {
    title: 'a log that quotes what clients send holds their secrets and their lines',
    run: async (trial) => {
      const log = `sign-in of ada with ${PASSWORD}\nGET /nothing\n${FORGED}\n`;
      checkTexts(trial, log, [PASSWORD]);
    },
  },
};

/** Uses one of everything that must not be written down; answers all of them. */
async function useSecrets(service: Service): Promise<string[]> {
  await service.createSuperuser('root');
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    service.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const basic = { Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` };
  const login = await send('/auth/login', { username: 'root', password: PASSWORD });
  const cookies = login.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);
  const wrong = 'wrong Password 99 of somebody';
  await send('/auth/login', { username: `eve\n${FORGED}`, password: wrong });
  const made = (await (await send('/api/apikeys', { name: 'key' }, basic)).json()) as {
    key?: string;
  };
  const key = made.key ?? '';
  await service.fetch('/api/t/', { headers: { 'X-API-Key': key } });
  await service.fetch('/api/t/', { headers: { 'X-API-Key': `${key.slice(0, -4)}zzzz` } });
  await service.fetch(`/nothing%0a${encodeURIComponent(FORGED)}`, {
    headers: { ...basic, 'User-Agent': 'a\tb' },
  });
  await service.fetch('/auth/me', { headers: { Cookie: cookies.join('; ') } });
  await service.fetch('/auth/me', {
    headers: { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
  });
  for (const path of ['/api/t/', '/admin/users']) await service.fetch(path);
  const values = cookies.map((cookie) => cookie.slice(cookie.indexOf('=') + 1));
  return [PASSWORD, wrong, key, btoa(`root:${PASSWORD}`), ...values];
}

function checkTexts(trial: Trial, text: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    trial.count('secrets looked for');
    trial.check(secret.length > 8, `a secret was not there to be used: ${secret}`);
    trial.check(!text.includes(secret), `a secret was written down: ${secret.slice(0, 4)}…`);
  }
  for (const line of text.split('\n')) trial.check(line !== FORGED, 'a client wrote a line');
}

function auditText(service: Service): string {
  using db = new Database(join(service.stateDir, 'svc.db'));
  return JSON.stringify(db.query('SELECT * FROM audit').all());
}

/** Changes a copy of the database in place, looks whether it is noticed, and puts it back. */
async function tamper(
  trial: Trial,
  service: Service,
  [sql, what]: (typeof TAMPERINGS)[number],
): Promise<void> {
  const path = join(service.stateDir, 'svc.db');
  {
    using db = new Database(path);
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  const whole = await Bun.file(path).bytes();
  {
    using db = new Database(path);
    const ids = db.query<{ id: number }, []>('SELECT id FROM audit ORDER BY id').all();
    // Neither the first nor the last, which have rules of their own in the unit tests.
    db.run(sql, [ids[trial.integer(1, ids.length - 3)]!.id]);
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  const check = await service.command(['check', service.docroot]);
  trial.count('changed audits');
  trial.check(check.exitCode !== 0, `${what} is not noticed: ${check.stdout}`);
  trial.check(/entr(?:y|ies)/.test(check.stdout + check.stderr), `${what} is not named`);
  await Bun.write(path, whole);
}
