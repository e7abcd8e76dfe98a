/**
 * A process that reads a database without a moment in which nobody reads, holding off when it is asked to. Arguments: the
 * file, and for how many milliseconds each reader holds a snapshot. Says "reading" once it does, and ends with its input.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';

const READERS = 4;

const [path, held] = process.argv.slice(2);
const heldMs = Number(held);
const readers = Array.from({ length: READERS }, () => new Database(path!, { readonly: true }));
const takeSnapshot = (db: Database): void => {
  db.run('BEGIN');
  db.query('SELECT count(*) FROM sqlite_schema').get();
};
for (const [at, db] of readers.entries()) {
  const next = (): void => {
    if (db.inTransaction) db.run('COMMIT');
    if (!existsSync(`${path}-folding`)) takeSnapshot(db);
  };
  takeSnapshot(db);
  setTimeout(
    () => {
      next();
      setInterval(next, heldMs);
    },
    ((at + 1) * heldMs) / READERS,
  );
}
await Bun.write(Bun.stdout, 'reading\n');
await Bun.stdin.text();
process.exit(0);
