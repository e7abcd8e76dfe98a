/**
 * What SIGHUP changes in a running server, seen from outside (DS-199).
 */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { eventually } from './eventually.ts';

/** Replaces the configuration and signals; resolves with what the log said about it. */
async function reload(svc: Service, config: Record<string, unknown>): Promise<string> {
  const before = svc.stderr().length;
  signal(svc, config);
  return eventually(() => {
    const said = svc.stderr().slice(before);
    if (!/configuration (?:reloaded|is invalid)/.test(said)) throw new Error('not yet');
    return said;
  });
}

function signal(svc: Service, config: Record<string, unknown>): void {
  writeFileSync(join(svc.docroot, '..', 'svc.yaml'), stringify(config));
  process.kill(svc.pid, 'SIGHUP');
}

test('read-only mode, limits, uploads, locks and logging apply at once; the rest is named', async () => {
  await using svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: { limits: { max_body_bytes: 1_000_000 } },
  });
  await svc.accounts.user('root', { superuser: true });
  const root = await svc.as('root');
  const session = await svc.inBrowserAs('root');
  const keyStatus = async (filler = '') =>
    (await root.fetch('/api/apikeys', { method: 'POST', body: JSON.stringify({ filler }) })).status;
  const uploadStatus = async () => (await root.fetch('/api/uploads', { method: 'POST' })).status;
  expect(await keyStatus('x'.repeat(5_000))).toBe(201);
  const closed = await uploadStatus();

  const small = { limits: { max_body_bytes: 1_000 }, upload: { enabled: true } };
  expect(await reload(svc, { ...small, locks: { timeout_seconds: 1 } })).toContain(
    '"applied":["upload.enabled","locks.timeout_seconds","limits.max_body_bytes"]',
  );
  expect(await keyStatus('x'.repeat(5_000))).toBe(413);
  expect(await keyStatus()).toBe(201);
  expect(await uploadStatus()).not.toBe(closed);

  await reload(svc, { readonly: true });
  expect(await keyStatus()).toBe(405);
  expect((await root.fetch('/api/a/')).status).toBe(200);

  const said = await reload(svc, { readonly: true, public_url: 'https://data.example' });
  await eventually(() => expect(svc.stderr()).toContain('"restart":["public_url",'));
  expect(said).toContain('"applied":[]');
  expect((await svc.fetch('/health')).headers.get('strict-transport-security')).toBeNull();

  const invalid = await reload(svc, { readonly: false, prot: 1 });
  expect(invalid).toContain("unknown key 'prot'");
  expect(await keyStatus()).toBe(405);

  // Nothing says so any more.
  signal(svc, { logging: { level: 'error' } });
  await eventually(async () => expect(await keyStatus()).toBe(201));
  const quiet = await session.fetch('/auth/me');
  expect(quiet.status).toBe(200);
  const id = quiet.headers.get('X-Request-Id')!;
  await svc.kill('SIGTERM');
  expect(svc.stderr()).not.toContain(id);
});
