/** Sends one request in a process that trusts the test's certificate; prints what came of it, and how often names were asked. */
import { post } from '../../src/deliveries/outgoing.ts';

const [port, name] = process.argv.slice(2);
let asked = 0;
const outcome = await post(
  {
    url: new URL(`https://${name}:${port}/`),
    body: 'x',
    headers: {},
    timeoutMs: 5_000,
    signal: new AbortController().signal,
  },
  {
    networks: ['127.0.0.1'],
    // The second answer leads elsewhere, as that of a name server that is not to be trusted.
    resolve: () => Promise.resolve([asked++ === 0 ? '127.0.0.1' : '127.0.0.2']),
  },
).then(
  ({ status }) => String(status),
  (error: { code?: string; message: string }) => error.code ?? error.message,
);
console.log(`${outcome} ${asked}`);
