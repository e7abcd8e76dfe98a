/**
 * The demo: installs, builds, and serves `examples/docroot` with the executable, on port 8000 or the next free one.
 *
 * The server itself prints the address and, on the first start, the one-time link that creates the first superuser.
 */
import { join } from 'node:path';
import { build, executable } from './build.ts';
import { bun, root, step } from './step.ts';

const HOST = '127.0.0.1';
const FIRST_PORT = 8000;
const LAST_PORT = 8099;

if ((await step([bun, 'install', '--frozen-lockfile'])) !== 0) process.exit(1);
await build();
const port = freePort();
console.log(`\nServing examples/docroot on port ${port}; Ctrl-C stops it.\n`);
const server = Bun.spawn([executable, join(root, 'examples', 'docroot'), '--port', String(port)], {
  env: { SVC_LOGGING_FORMAT: 'text', ...process.env },
  stdio: ['ignore', 'inherit', 'inherit'],
});
// Ctrl-C reaches the server by itself; this process only waits for its end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => signal === 'SIGTERM' && server.kill(signal));
}
process.exitCode = await server.exited;
if (process.exitCode === 1 && port !== FIRST_PORT) {
  console.error(`Port ${FIRST_PORT} is in use: if that is another demo, use it or stop it first.`);
}

function freePort(): number {
  for (let port = FIRST_PORT; port <= LAST_PORT; port++) {
    try {
      Bun.listen({ hostname: HOST, port, socket: { data: () => undefined } }).stop(true);
      return port;
    } catch {
      // Taken; the next one may be free.
    }
  }
  return 0;
}
