/**
 * The sockets of children: one name per process, and the tidying of those whose owner was killed.
 *
 * A name carries the process id of the parent, because a command line and a server may use one folder at a time.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';

/** Makes the folder (mode 0700) if needed and removes the role's sockets that no living process owns. */
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

/** A path that no other child has or had. */
export function newSocketPath(socketDir: string, role: string): string {
  return join(socketDir, `${role}-${process.pid}-${shortId()}.sock`);
}

/** Whether another process has this id; a socket with this process's own id was left by an earlier one. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
