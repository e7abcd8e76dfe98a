/**
 * A small file system in memory, mounted over a folder, that can be filled to the last page. Needs root.
 */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../src/base/errors.ts';

const FILLER = '.filler';
const mounted = new Set<SmallDisk>();
// Also when a test run is cut short: a mounted folder cannot be deleted.
process.on('exit', () => {
  for (const disk of mounted) disk[Symbol.dispose]();
});

/** Mounted by its construction; disposing it unmounts, even while files are open. */
export class SmallDisk implements Disposable {
  readonly path: string;

  constructor(path: string, bytes: number) {
    this.path = path;
    run(['mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'none', path]);
    mounted.add(this);
  }

  /** Leaves at most so many bytes free; whole pages, so 4,096 or nothing for anything below 8,192. */
  fill(leaving: number): void {
    const { bavail, bsize } = statfsSync(this.path);
    const pages = bavail - Math.floor(leaving / bsize);
    if (pages <= 0) return;
    try {
      writeFileSync(join(this.path, FILLER), Buffer.alloc(pages * bsize, 'f'));
    } catch (error) {
      // Somebody else wrote meanwhile: then it is full, which is less than may be left.
      if (errnoOf(error) !== 'ENOSPC') throw error;
    }
  }

  /** Gives the space back. */
  free(): void {
    rmSync(join(this.path, FILLER), { force: true });
  }

  /** Lets everything be read and nothing written, as after a disk error; or undoes that. */
  remount(mode: 'ro' | 'rw'): void {
    run(['mount', '-o', `remount,${mode}`, this.path]);
  }

  [Symbol.dispose](): void {
    if (!mounted.delete(this)) return;
    run(['umount', '--lazy', this.path]);
  }
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stderr: 'pipe' });
  if (!success) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
}
