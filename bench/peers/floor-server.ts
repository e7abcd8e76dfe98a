/**
 * The least a server of rows can do: bare Bun.serve, one prepared statement, JSON.stringify. No rights, no checks, no
 * total.
 *
 *     bun floor-server.ts <database> <SQL>
 *
 * The number after the `=` of the request's address is the statement's only parameter.
 */
import { Database } from 'bun:sqlite';

const [path, sql] = process.argv.slice(2);
if (path === undefined || sql === undefined) throw new Error('floor-server.ts <database> <SQL>');
const statement = new Database(path, { readonly: true }).prepare(sql);
const headers = { 'Content-Type': 'application/json' };

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { url } = request;
    const rows = statement.all(Number(url.slice(url.lastIndexOf('=') + 1)));
    return new Response(JSON.stringify(rows), { headers });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
