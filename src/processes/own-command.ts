/** Starts this program again as a child process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const RUNNING_PROGRAM = '/proc/self/exe';

/** The executable, or from source the runtime with main.ts. */
export function workerCommand(role: string, socketPath: string): string[] {
  return [...ownCommand(), 'child', role, socketPath];
}

function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main);
  if (!isCompiled) return [process.execPath, join(import.meta.dir, '../main.ts')];
  // The file may have been replaced by a newer version; this link still leads to the running one.
  return [existsSync(RUNNING_PROGRAM) ? RUNNING_PROGRAM : process.execPath];
}
