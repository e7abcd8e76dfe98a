/**
 * Bare SQLite: inserts events into a table without any index, so many to a transaction, each synced; prints events a
 * second. Arguments: database, file with a JSON array of events, events a transaction, seconds.
 */
import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';

const [path = '', file = '', batch = '1000', seconds = '2'] = process.argv.slice(2);
const events = JSON.parse(readFileSync(file, 'utf8')) as {
  sourcetype: string;
  host: string;
  data: string;
}[];
const db = new Database(path, { create: true, readwrite: true });
db.run('PRAGMA journal_mode = WAL');
db.run('PRAGMA synchronous = FULL');
db.run(
  'CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, created INTEGER, "index" TEXT, sourcetype TEXT, source TEXT, host TEXT, data TEXT, fields TEXT)',
);
const insert = db.prepare(
  'INSERT INTO events (created, "index", sourcetype, source, host, data, fields) VALUES (?, ?, ?, ?, ?, ?, ?)',
);
const startedAt = performance.now();
let count = 0;
while (performance.now() - startedAt < Number(seconds) * 1000) {
  db.run('BEGIN');
  for (let index = 0; index < Number(batch); index++) {
    const event = events[count % events.length]!;
    insert.run(
      Date.now() * 1000,
      'default',
      event.sourcetype,
      'default',
      event.host,
      event.data,
      '{}',
    );
    count += 1;
  }
  db.run('COMMIT');
}
console.log(JSON.stringify({ perSecond: count / ((performance.now() - startedAt) / 1000) }));
db.close();
