/**
 * Open files of this process, which runs the tests of many files: only those of a test's own folder are its own.
 */
import { readdirSync, readlinkSync } from 'node:fs';

/** How many descriptors lead into the folder. */
export function descriptorsIn(folder: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => leadsInto(fd, folder)).length;
}

function leadsInto(fd: string, folder: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
  } catch {
    // It was closed meanwhile.
    return false;
  }
}
