/**
 * The least a server of rows can do: bare Bun.serve, one prepared statement, JSON.stringify. No rights, no checks.
 *
 *     bun floor-server.ts <database> <SQL>
 *
 * `?id=` of the request, when there is one, is the statement's only parameter.
 */
import { Database } from 'bun:sqlite';

const [path, sql] = process.argv.slice(2);
if (path === undefined || sql === undefined) throw new Error('floor-server.ts <database> <SQL>');
const statement = new Database(path, { readonly: true }).prepare(sql);
const isById = sql.includes('?');
const headers = { 'Content-Type': 'application/json' };

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { url } = request;
    const rows = isById
      ? statement.all(Number(url.slice(url.lastIndexOf('=') + 1)))
      : statement.all();
    return new Response(JSON.stringify(rows), { headers });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
