/** A socket's name contains the parent's process id, because a command and a server may use the same folder. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';

/** Mode 0700; removes the role's sockets that no living process owns. */
export function prepareSockets(socketDir: string, role: string): void {
  mkdirSync(socketDir, { recursive: true, mode: 0o700 });
  const pattern = new RegExp(`^${RegExp.escape(role)}-(\\d+)-[0-9a-f]+\\.sock$`);
  for (const name of readdirSync(socketDir)) {
    const owner = pattern.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) {
      rmSync(join(socketDir, name), { force: true });
    }
  }
}

export function newSocketPath(socketDir: string, role: string): string {
  return join(socketDir, `${role}-${process.pid}-${shortId()}.sock`);
}

/** Only other processes count: a socket with this process's id was left by an earlier one. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/**
 * Long queries, slow routes and event streams send nothing for long without being dead.
 *
 * For `Bun.serve` on a unix socket, which Bun's types do not know. Setting it per request (`server.timeout`) does not
 * work there: a request without a body would be cut after ten seconds, and Bun's `fetch` would repeat it.
 */
export const MAY_BE_SILENT: object = { idleTimeout: 0 };
