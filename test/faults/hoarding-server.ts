/**
 * A control that is wrong on purpose: a server that keeps what it was asked and never closes a file it opened.
 *
 * Usage: bun hoarding-server.ts <file>; prints its address.
 */
import { openSync } from 'node:fs';

const kept: Uint8Array[] = [];
const server = Bun.serve({
  port: 0,
  fetch() {
    kept.push(new Uint8Array(256 * 1024).fill(kept.length));
    openSync(process.argv[2]!, 'r');
    return Response.json({ kept: kept.length });
  },
});
console.log(server.url.href);
