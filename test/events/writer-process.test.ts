/**
 * A writer that was at work for long is replaced at once, however many ended before it (EV-51, DS-170).
 */
import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { ChildSupply } from '../../src/processes/child-supply.ts';
import { WriterProcess } from '../../src/events/store/writer-process.ts';
import type { WriterSettings } from '../../src/events/store/writer-orders.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test('ends of the writer between which it worked make no pause', async () => {
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const program = join(import.meta.dir, 'writer-child.ts');
  const supply = new ChildSupply({
    ...{ role: 'events', socketDir: folder.at('run'), log, maxIdle: 1 },
    command: (socketPath) => [process.execPath, program, socketPath],
    recycleRssBytes: Number.POSITIVE_INFINITY,
  });
  const settings = {} as WriterSettings;
  const stateDir = folder.at('state');
  const options = { supply, stateDir, settings: () => settings, clock: systemClock, log };
  const writer = new WriterProcess(options);
  for (let end = 1; end <= 7; end++) {
    const child = await writer.open();
    expect(await writer.run([])).toEqual([]);
    process.kill(child.pid, 'SIGKILL');
    expect(await writer.run([])).toEqual([]);
  }
  await writer.close();
});
