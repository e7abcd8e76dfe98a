/**
 * How this very program is started again, as its own child process.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Linux only. */
const RUNNING_PROGRAM = '/proc/self/exe';

/** The command of a worker of a role, listening at that path: the executable, or from source the runtime and main.ts. */
export function workerCommand(role: string, socketPath: string): string[] {
  return [...ownCommand(), 'child', role, socketPath];
}

function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main);
  if (!isCompiled) return [process.execPath, join(import.meta.dir, '../main.ts')];
  // The file may have been replaced by a newer version meanwhile; this link still leads to the one that runs.
  return [existsSync(RUNNING_PROGRAM) ? RUNNING_PROGRAM : process.execPath];
}
