/**
 * Events while the disk is full or nearly so (EV-51): refused with a moment to come back, nothing acknowledged is lost, and
 * taken again as soon as there is room.
 */
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isExcused } from '../faults/recipe.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const MIB = 2 ** 20;
const NOT_WRITABLE = { detail: 'Event storage is not writable.' };

test.skipIf(isExcused()).each([
  ['less than min_free_bytes free', 16 * MIB, 8 * MIB],
  ['not a byte free', 1, 0],
])('with %s', async (_name, minFree, leaving) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const docroot = join(folder, 'docroot');
  mkdirSync(docroot);
  {
    using disk = new SmallDisk(docroot, 64 * MIB);
    await using svc = await startService({
      docroot,
      config: { events: { min_free_bytes: minFree } },
    });
    await svc.accounts.grant('sender', '@events', 'read', 'write');
    const sender = await svc.as('sender');
    const acknowledged: string[] = [];
    let sent = 0;
    const post = async (): Promise<Response> => {
      const data = `event ${(sent += 1)} ${'x'.repeat(20_000)}`;
      const init = { method: 'POST', body: JSON.stringify({ data }) };
      const answer = await sender.fetch('/api/events/?index=disk', init);
      if (answer.status === 201) acknowledged.push(data);
      return answer;
    };
    for (let at = 0; at < 5; at++) expect((await post()).status).toBe(201);
    const large = await sender.fetch('/services/collector/raw', {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(100 * MIB, 'a line\n')),
    });
    expect([large.status, large.headers.get('retry-after')]).toEqual([503, '5']);
    await large.arrayBuffer();
    // What was kept of it has gone.
    expect((await post()).status).toBe(201);
    disk.fill(leaving);
    const refused = await eventually(async () => {
      const answer = await post();
      expect(answer.status).toBe(503);
      return answer;
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual(NOT_WRITABLE);
    expect((await sender.fetch('/api/events/?limit=1')).status).toBe(200);
    expect((await svc.fetch('/health')).status).toBeLessThan(600);
    disk.free();
    await eventually(async () => expect((await post()).status).toBe(201), 20_000);
    const stored = (await (await sender.fetch('/api/events/')).json()) as { data: string }[];
    const counts = Map.groupBy(stored, ({ data }) => data);
    expect(acknowledged.filter((data) => counts.get(data)?.length !== 1)).toEqual([]);
  }
  rmSync(folder, { recursive: true, force: true });
});
