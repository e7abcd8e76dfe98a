/**
 * What replacing a file safely costs at least: copy, fsync, rename, fsync of the folder.
 *
 *     bun replace-loop.ts <file> <times>
 *
 * Prints the milliseconds of each time as a JSON array.
 */
import { closeSync, copyFileSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';

const [path, times] = process.argv.slice(2);
if (path === undefined || times === undefined) throw new Error('replace-loop.ts <file> <times>');
const folder = openSync(dirname(path), 'r');
const copy = `${path}.copy`;

const milliseconds = Array.from({ length: Number(times) }, () => {
  const startedAt = performance.now();
  copyFileSync(path, copy);
  const file = openSync(copy, 'r+');
  fsyncSync(file);
  closeSync(file);
  renameSync(copy, path);
  fsyncSync(folder);
  return performance.now() - startedAt;
});
console.log(JSON.stringify(milliseconds));
