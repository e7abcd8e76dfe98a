/**
 * The smallest server; compiled, it is what Bun itself takes. PORT names its port.
 */
const server = Bun.serve({
  port: Number(process.env['PORT'] ?? 0),
  hostname: '127.0.0.1',
  fetch: () => new Response('hello'),
});
console.log(`http://127.0.0.1:${server.port}`);

export {};
