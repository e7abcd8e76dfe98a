/**
 * One file through bare Bun.serve, as it lies on the disk.
 *
 *     bun file-server.ts <file>
 */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('file-server.ts <file>');

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(Bun.file(path)),
});
console.log(`http://127.0.0.1:${server.port}`);

export {};
