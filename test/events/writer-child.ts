/** A writer that opens nothing and is done with every batch. Argument: the socket path. */
import { BINARY, serveChild } from '../../src/processes/child-server.ts';
import { frame } from '../../src/events/store/writer-orders.ts';

const done = (): Response => new Response(null, { status: 204 });
const headers = { 'Content-Type': BINARY };

await serveChild({
  socketPath: process.argv[2] ?? '',
  jobs: {
    open: done,
    run: () => new Response(frame([]) as Bun.BodyInit, { headers }),
    close: done,
  },
});
process.exit(0);
