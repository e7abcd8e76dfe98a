/**
 * Steps that were made wholly, half or not at all are taken back, also after a taking back that was broken off.
 */
import { expect, test } from 'bun:test';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Step, take, takeBack } from '../../src/backup/moves.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function contents(folder: string): unknown[] {
  const rels = [
    ...new Bun.Glob('**').scanSync({ cwd: folder, dot: true, onlyFiles: false }),
  ].sort();
  return rels.map((rel) => {
    const path = join(folder, rel);
    return [rel, lstatSync(path).isDirectory() ? null : readFileSync(path, 'utf8')];
  });
}

/** Old and new files of `root`, what comes being staged in `staging`. */
function scene(root: string, staging: string): Step[] {
  const put = (path: string, text: string): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const at = (rel: string): string => join(root, rel);
  const aside = (rel: string): string => join(root, '.aside', rel);
  const staged = (rel: string): string => put(join(staging, rel), `new ${rel}`);
  put(at('a'), 'old a');
  put(at('obstacle'), 'old file where a folder comes');
  put(at('folder/in'), 'old, in a folder where a file comes');
  put(at('tables/t'), 'old table');
  return [
    { path: at('tables'), aside: aside('tables'), staged: null },
    { path: at('obstacle'), aside: aside('obstacle'), staged: null },
    { path: at('a'), aside: aside('a'), staged: staged('a') },
    { path: at('obstacle/deep/x'), aside: null, staged: staged('obstacle/deep/x') },
    { path: at('folder'), aside: aside('folder'), staged: staged('folder') },
    { path: at('tables/u'), aside: null, staged: staged('tables/u') },
    { path: at('b'), aside: null, staged: staged('b') },
  ];
}

test.each([true, false])(
  'whatever was done, all is as before (on one file system: %p)',
  async (isOne) => {
    // Where the second is the same, moving is renaming all the same.
    const other = mkdtempSync('/dev/shm/svc-test-');
    try {
      for (let done = 0; done <= 14; done++) {
        for (let undone = 0; undone <= 7; undone += 3) {
          using folder = temporaryFolder();
          const root = folder.at('root');
          const staging = isOne ? folder.at('staging') : join(other, `${done}.${undone}`);
          const steps = scene(root, staging);
          const before = contents(root);
          for (const step of steps.slice(0, done >> 1)) await take(step);
          const half = steps[done >> 1];
          // Killed between its two moves, or between copying to another file system and deleting here.
          if (done === 7) {
            mkdirSync(join(root, 'obstacle/deep'), { recursive: true });
            writeFileSync(join(root, 'obstacle/deep/.x.svc-0123456789abcdef.tmp'), 'half');
          }
          if (done % 2 === 1 && half !== undefined) {
            if (half.aside !== null) await take({ ...half, staged: null });
            else if (!isOne && half.staged !== null) {
              mkdirSync(dirname(half.path), { recursive: true });
              cpSync(half.staged, half.path, { preserveTimestamps: true });
            }
          }
          for (const step of steps.toReversed().slice(0, undone)) await takeBack(step);
          for (const step of steps.toReversed()) await takeBack(step);
          rmSync(join(root, '.aside'), { recursive: true, force: true });
          expect({ done, undone, found: contents(root) }).toEqual({ done, undone, found: before });
        }
      }
    } finally {
      rmSync(other, { recursive: true });
    }
  },
);
