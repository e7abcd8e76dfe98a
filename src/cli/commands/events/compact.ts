/** `svc events compact`: gives the space of deleted events back to the disk. Works while a server runs. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from '../../../events/store/schema.ts';
import { EventStore } from '../../../events/store/store.ts';
import { stateFolder } from '../../../store/state-files.ts';
import type { Invocation } from '../../command.ts';
import { loadInvocation } from '../../configuration.ts';
import { answerText } from '../../printer.ts';

const MIB = 1024 * 1024;

export async function compact(invocation: Invocation): Promise<string> {
  const { config } = await loadInvocation(invocation);
  const path = join(config.state_dir, EVENTS_FILE);
  if (!existsSync(path))
    return answerText(invocation, { before: 0, after: 0 }, () => 'No events.\n');
  const before = statSync(path).size;
  const store = new EventStore(path);
  try {
    store.compact(stateFolder(config.state_dir, 'tmp'));
  } finally {
    store.close();
  }
  const after = statSync(path).size;
  const mib = (bytes: number): string => (bytes / MIB).toFixed(1);
  return answerText(
    invocation,
    { before, after },
    () => `${path}: ${mib(before)} MiB before, ${mib(after)} MiB now\n`,
  );
}
