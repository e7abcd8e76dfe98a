/** A child with one job for each way a job can go well or badly. Arguments: the socket path. */
import { AppError, invalidRequest } from '../../src/base/errors.ts';
import { serveChild } from '../../src/processes/child-server.ts';

const LINE = `${JSON.stringify({ _row_id: 1, name: 'Zürich', price: 12.5, qty: 7, flag: true })}\n`;
const CHUNK = new TextEncoder().encode(LINE.repeat(Math.ceil(65_536 / LINE.length)));

interface StreamBody {
  readonly bytes: number;
  readonly crashAfter?: number;
  readonly failAfter?: number;
  readonly hangAfter?: number;
}

let produced = 0;

function stream(body: StreamBody): ReadableStream<Uint8Array> {
  produced = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (produced >= (body.crashAfter ?? Infinity)) process.kill(process.pid, 'SIGKILL');
        if (produced >= (body.failAfter ?? Infinity)) throw new Error('the disk went away');
        if (produced >= (body.hangAfter ?? Infinity)) for (;;);
        controller.enqueue(CHUNK);
        produced += CHUNK.length;
        if (produced >= body.bytes) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

const hoard: Uint8Array[] = [];
function hog(megabytes: number): void {
  for (let i = 0; i < megabytes; i += 8) hoard.push(new Uint8Array(8 << 20).fill(i));
}

await serveChild({
  socketPath: process.argv[2] ?? '',
  jobs: {
    echo: (body) => Response.json(body),
    identity: () => Response.json({ pid: process.pid, env: process.env, cwd: process.cwd() }),
    sleep: async (body) => {
      await Bun.sleep(body as number);
      return new Response('slept');
    },
    spin: () => {
      for (;;);
    },
    hog: (body) => {
      hog(body as number);
      return new Response('full');
    },
    crash: () => process.exit(3),
    'fail-expected': () => {
      throw invalidRequest({ type: 'int', loc: ['query', 'limit'], msg: 'not a number' });
    },
    'fail-with-headers': () => {
      throw new AppError('locked', "Resource 'a' is locked", { headers: { 'Retry-After': '7' } });
    },
    'fail-as-bug': () => {
      throw new TypeError('x is not a function at /secret/path');
    },
    pollute: (body) => {
      const target: Record<string, Record<string, unknown>> = {};
      let error = '';
      try {
        target[body as string]!['polluted'] = 'yes';
      } catch (thrown) {
        error = String(thrown);
      }
      return Response.json({ polluted: 'polluted' in {}, error });
    },
    'load-lazily': async () => {
      const { gzipSync } = await import('node:zlib');
      await import('node:stream');
      const named = { toString: () => 'x' };
      class Shape {}
      Shape.prototype.toString = () => 'shape';
      return Response.json([gzipSync('a').length > 0, `${named}${new Shape()}`, `${{}}`]);
    },
    print: (body) => {
      const { lines, length } = body as { lines: number; length: number };
      for (let i = 0; i < lines; i += 1) process.stderr.write(`${i} ${'x'.repeat(length)}\n`);
      return new Response('printed');
    },
    stream: (body) => new Response(stream(body as StreamBody)),
    produced: () => Response.json(produced),
  },
});
process.exit(0);
