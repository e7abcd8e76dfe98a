/**
 * A process that reads a database without a moment in which nobody reads. Argument: the file. Says "reading" once it does,
 * and ends with its input.
 */
import { Database } from 'bun:sqlite';

const READERS = 4;
/** Each of them holds a snapshot for so long, and takes the next at once. */
const HELD_MS = 80;

const [path] = process.argv.slice(2);
const readers = Array.from({ length: READERS }, () => new Database(path!, { readonly: true }));
const takeSnapshot = (db: Database): void => {
  db.run('BEGIN');
  db.query('SELECT count(*) FROM sqlite_schema').get();
};
for (const [at, db] of readers.entries()) {
  takeSnapshot(db);
  setTimeout(
    () =>
      setInterval(() => {
        db.run('COMMIT');
        takeSnapshot(db);
      }, HELD_MS),
    (at * HELD_MS) / READERS,
  );
}
await Bun.write(Bun.stdout, 'reading\n');
await Bun.stdin.text();
process.exit(0);
