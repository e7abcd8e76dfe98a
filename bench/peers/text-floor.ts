/**
 * The least a full-text search can be: FTS5 behind bare Bun.serve, one prepared statement, JSON.stringify. No rights.
 *
 *     bun text-floor.ts <NDJSON of {title, body}> <new database> [serve]
 *
 * Without `serve` it ends when the index is made. The words are what follows `q=` in the address.
 */
import { Database } from 'bun:sqlite';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const [source, path, mode] = process.argv.slice(2);
if (source === undefined || path === undefined)
  throw new Error('text-floor.ts <NDJSON> <database>');
const db = new Database(path, { create: true });
db.run('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
db.run(
  "CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize='unicode61 remove_diacritics 2')",
);
const insert = db.prepare('INSERT INTO words (title, body) VALUES (?, ?)');
let count = 0;
db.run('BEGIN');
for await (const line of createInterface(createReadStream(source))) {
  const { title, body } = JSON.parse(line) as { title: string; body: string };
  insert.run(title, body);
  if (++count % 10_000 === 0) db.run('COMMIT; BEGIN');
}
db.run('COMMIT');

if (mode === 'serve') {
  const find = db.prepare(
    "SELECT rowid, title, snippet(words, 1, '<mark>', '</mark>', '…', 24) AS snippet, bm25(words, 10, 1) AS score " +
      'FROM words WHERE words MATCH ? ORDER BY score LIMIT 20',
  );
  const headers = { 'Content-Type': 'application/json' };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const words = decodeURIComponent(url.slice(url.lastIndexOf('=') + 1)).split(' ');
      const query = `${words.map((word) => `"${word}"`).join(' ')}*`;
      return new Response(JSON.stringify(find.all(query)), { headers });
    },
  });
  console.log(`http://127.0.0.1:${server.port}`);
} else {
  console.log(count);
}
