/** Bodies with events that come one after another leave no garbage behind (S-D1). */
import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { startService } from '../support/service.ts';
import { forgetPeak, memoryOf } from './process-memory.ts';

const MIB = 1024 * 1024;
const ROUTES = ['/api/events/', '/_bulk', '/services/collector/event', '/v1/logs'];

test('compressed bodies one after another take no more memory than a few', async () => {
  await using service = await startService({ config: { events: { min_free_bytes: 1 } } });
  await service.accounts.grant('writer', '@events', 'write');
  const writer = await service.as('writer');
  const objects = Buffer.from(`[${'{},'.repeat(9_000_000)}{}]`);
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
  const bodies = [gzipSync(objects), gzipSync(Buffer.alloc(100_000_000, '7'))];
  forgetPeak(service.pid);
  const before = memoryOf(service.pid)!.resident;
  for (const path of [...ROUTES, ...ROUTES, ...ROUTES]) {
    for (const body of bodies) {
      const answer = await writer.fetch(path, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      expect(answer.status).toBeLessThan(500);
    }
  }
  expect((memoryOf(service.pid)!.peak - before) / MIB).toBeLessThan(400);
});
