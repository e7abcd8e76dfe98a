/** Ends that come early: a stop that overtakes what the start left to the background is no failure (DS-21). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

test('a stop while the event store is being opened reports no error', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n1\n' } });
  expect(await service.kill('SIGTERM')).toBe(0);
  const sockets = (): string[] => readdirSync(join(service.stateDir, 'run'));
  for (let round = 0; round < 5; round += 1) {
    const started = service.start().catch(() => undefined);
    await eventually(() => expect(sockets().join()).toContain('events-'));
    expect(await service.kill('SIGTERM')).toBe(0);
    await started;
  }
  expect(service.stderr()).not.toMatch(/"level":"(?:error|warning)"/);
});
