/**
 * The first answer from a file that was never read: from the start of the process to a page of it, and the memory of all
 * that works on it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { heldMegabytes, MemoryWatch } from './memory.ts';
import { requireEqual } from './products.ts';
import type { BenchService } from './service.ts';

/** What the first answer took. */
interface Touch {
  readonly milliseconds: number;
  /** Of the server and its children together; what they share counts once. */
  readonly peakMegabytes: number;
}

/** Forgets what a stopped service knows of its files, starts it and asks for a page; it is stopped again afterwards. */
export async function touch(service: BenchService, path: string, rows: number): Promise<Touch> {
  rmSync(join(service.stateDir, 'tables'), { recursive: true });
  rmSync(join(service.stateDir, 'sheets.json'), { force: true });
  const startedAt = performance.now();
  await service.run();
  using memory = new MemoryWatch(service.pid, heldMegabytes);
  const response = await service.get(path);
  const milliseconds = performance.now() - startedAt;
  requireEqual('the number of rows', response.headers.get('x-total-count'), String(rows));
  await response.arrayBuffer();
  await service.stop();
  return { milliseconds, peakMegabytes: memory.peak };
}
