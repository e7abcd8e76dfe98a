/**
 * Hand-written SQL over HTTP: bare Bun.serve, one statement a request, JSON.stringify. No rights, no checks, no budgets.
 *
 *     bun sql-server.ts <database> <CSV of assets>
 *
 * The body of a request is the SQL; table `assets` holds the CSV.
 */
import { Database } from 'bun:sqlite';

const [path, assets] = process.argv.slice(2);
if (path === undefined || assets === undefined) throw new Error('sql-server.ts <database> <CSV>');
const db = new Database(path, { readonly: true });
db.run('CREATE TEMP TABLE assets (host TEXT PRIMARY KEY, owner TEXT)');
for (const line of assets.trim().split('\n').slice(1))
  db.run('INSERT INTO assets VALUES (?, ?)', line.split(','));
const headers = { 'Content-Type': 'application/json' };

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 120,
  async fetch(request) {
    const statement = db.query(await request.text());
    return new Response(JSON.stringify(statement.all()), { headers });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
