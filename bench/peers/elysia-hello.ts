/**
 * The smallest server with Elysia, compiled before use. PORT names its port.
 */
import { Elysia } from 'elysia';

const app = new Elysia().get('/', () => 'hello');
app.listen({ port: Number(process.env['PORT'] ?? 0), hostname: '127.0.0.1' });
console.log(`http://127.0.0.1:${app.server?.port}`);
