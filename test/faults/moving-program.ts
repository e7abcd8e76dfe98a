/**
 * A program that moves a file or deletes it into the trash, for tests that kill it at a system call.
 *
 * `careless` is wrong on purpose, as a control: it copies and deletes. Arguments: what to do, the document root.
 * `recover` does what the next start does.
 */
import { closeSync, copyFileSync, fsyncSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { recoverRelocations, relocate } from '../../src/docroot/moves/relocation.ts';
import { Trash } from '../../src/docroot/moves/trash.ts';
import type { Log } from '../../src/base/log.ts';

const [what = '', path = ''] = process.argv.slice(2);
const quiet = (): void => undefined;
const log: Log = {
  level: 'error',
  format: 'json',
  debug: quiet,
  info: quiet,
  warning: quiet,
  error: quiet,
};
const root = new DocumentRoot(path, join(path, '.svc'));
const followed = async (): Promise<void> => undefined;
const limits = () => ({ trash_days: 30, trash_max_bytes: 1e9 });
const trash = new Trash({ root, now: () => Date.now(), log, followed, limits });
const companion = '.svc/a.csv.schema.json';
console.log('ready');
if (what === 'move') {
  const companions = [[companion, '.svc/b.csv.schema.json']] as const;
  await relocate(root, { from: 'a.csv', to: 'b.csv', was: 'a.csv', companions }, followed);
} else if (what === 'delete') await trash.take('a.csv', 'ada', [companion]);
else if (what === 'restore') await trash.putBack(trash.list()[0]!, 'a.csv');
else if (what === 'careless') {
  copyFileSync(root.absolute('a.csv'), root.absolute('b.csv'));
  const fd = openSync(root.absolute('b.csv'), 'r');
  fsyncSync(fd);
  closeSync(fd);
  unlinkSync(root.absolute('a.csv'));
} else if (what === 'recover') {
  await recoverRelocations(root, followed, log);
  trash.removeEmpty();
}
console.log('done');
