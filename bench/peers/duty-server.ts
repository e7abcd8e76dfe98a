/**
 * The least that a server with the duties of `svc` can do: bare Bun.serve and, for each request, what the contract wants of
 * all of them. An id, the address of the peer, the key by its digest, the headers of security, an entity tag, a line in the
 * log. No rights, no checks of the file, no total that had to be counted.
 *
 *     bun duty-server.ts <file of the answer>
 *     bun duty-server.ts <database> <SQL>
 *
 * The number after the `=` of the request's address is the statement's only parameter.
 */
import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';

const [path, sql] = process.argv.slice(2);
if (path === undefined) throw new Error('duty-server.ts <file> | <database> <SQL>');
const statement = sql === undefined ? null : new Database(path, { readonly: true }).prepare(sql);
const whole = statement === null ? readFileSync(path) : null;

const shared = new Headers({
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'self'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; " +
    "media-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; " +
    "frame-ancestors 'none'",
  'Cache-Control': 'private, no-cache',
  'Content-Type': 'application/json',
  Vary: 'Accept, Accept-Encoding',
});
const READ = ['host', 'cookie', 'x-api-key', 'authorization', 'accept', 'if-none-match'];
const keys = new Map<string, number>();
let lines = '';

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request, socket) {
    const startedAt = performance.now();
    const { url, headers } = request;
    const id = crypto.randomUUID();
    const address = socket.requestIP(request)?.address;
    const [, , key = ''] = READ.map((name) => headers.get(name) ?? undefined);
    const digest = Bun.SHA256.hash(key, 'hex');
    const user = keys.get(digest) ?? 1;
    keys.set(digest, user);
    const body = statement === null ? whole! : JSON.stringify(rowsAt(url));
    const own = new Headers(shared);
    own.set('X-Request-Id', id);
    own.set('X-Total-Count', '20');
    own.set('ETag', `"${digest.slice(0, 16)}"`);
    const ms = performance.now() - startedAt;
    note(
      `{"time":"${new Date().toISOString()}","level":"info","message":"request","id":"${id}","client":"${address}",` +
        `"user_id":${user},"method":"GET","path":"/","status":200,"ms":${ms},"bytes":${body.length}}\n`,
    );
    return new Response(body, { headers: own });
  },
});
console.log(`http://127.0.0.1:${server.port}`);

function rowsAt(url: string): unknown[] {
  return statement!.all(Number(url.slice(url.lastIndexOf('=') + 1)));
}

/** One write for the lines of some milliseconds. */
function note(line: string): void {
  if (lines === '') {
    setTimeout(() => {
      process.stderr.write(lines);
      lines = '';
    }, 10);
  }
  lines += line;
}
