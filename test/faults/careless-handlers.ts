/**
 * A server that is wrong on purpose, as a control: it runs a handler file in its own process.
 *
 * Usage: bun careless-handlers.ts <handler.ts> <port>; prints its address. `GET /health` answers 200.
 */
import type { Elysia } from 'elysia';

const [file = '', port = '0'] = process.argv.slice(2);
const { router } = (await import(file)) as { router: Elysia };
const server = Bun.serve({
  port: Number(port),
  fetch: (request) =>
    new URL(request.url).pathname === '/health' ? new Response('ok') : router.fetch(request),
});
console.log(server.url.href.replace(/\/$/, ''));
