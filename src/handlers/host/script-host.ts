/**
 * The process in which TypeScript and JavaScript handlers run, in one event loop that the server watches.
 *
 * An unhandled rejection or a throw in a timer is printed and must not end the other handlers; the server detects
 * endless loops.
 */
import http from 'node:http';
import { toOpenAPISchema } from '@elysiajs/openapi';
import { serveOnSocket } from '../../processes/child-server.ts';
import { type FileCommand, HANDLER_HEADER, type HostState } from '../host-protocol.ts';
import { type LoadedScript, loadScript } from './script-loader.ts';
import * as elysia from 'elysia';
import * as typebox from '@sinclair/typebox';
import * as compiler from '@sinclair/typebox/compiler';
import * as system from '@sinclair/typebox/system';
import { data } from './data-client.ts';
import * as value from '@sinclair/typebox/value';

/** As much as the server in front accepts. */
const MAX_HEAD_BYTES = 512 * 1024;

export async function serveScripts(socketPath: string, docroot: string): Promise<void> {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => console.error(`${event}:`, error));
  }
  provideModules();
  (http as { maxHeaderSize: number }).maxHeaderSize = MAX_HEAD_BYTES;
  const host = new ScriptHost(docroot);
  await serveOnSocket(socketPath, (request) => host.answer(request));
}

class ScriptHost {
  readonly #docroot: string;
  readonly #scripts = new Map<string, LoadedScript>();
  /** Requests whose client is gone, and since when. */
  readonly #abandoned = new Map<Request, number>();

  constructor(docroot: string) {
    this.#docroot = docroot;
  }

  answer(request: Request): Response | Promise<Response> {
    const rel = request.headers.get(HANDLER_HEADER);
    if (rel === null) return this.#obey(request);
    request.headers.delete(HANDLER_HEADER);
    const app = this.#scripts.get(decodeURIComponent(rel))?.app;
    if (!app) return Response.json({ detail: 'Not Found' }, { status: 404 });
    return this.#observed(request, app.answer(request));
  }

  /** Commands of the server; client requests always carry the name of a handler. */
  async #obey(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/ping') return new Response('idle');
    if (pathname === '/state') return Response.json(this.#state());
    const { rel } = (await request.json()) as FileCommand;
    switch (pathname) {
      case '/load': {
        const { app, ...result } = await loadScript(this.#docroot, rel);
        this.#scripts.set(rel, { ...result, app });
        return Response.json(result);
      }
      case '/unload':
        this.#scripts.delete(rel);
        return new Response(null, { status: 204 });
      case '/schema':
        return Response.json(this.#schemaOf(rel));
      default:
        return new Response(null, { status: 404 });
    }
  }

  #schemaOf(rel: string): object {
    const elysia = this.#scripts.get(rel)?.app?.elysia;
    if (elysia === undefined) return { paths: {} };
    return toOpenAPISchema(elysia, undefined, undefined, undefined, '3.1.0');
  }

  async #observed(request: Request, answer: Promise<Response>): Promise<Response> {
    const onAbort = (): void => void this.#abandoned.set(request, performance.now());
    request.signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await answer;
    } finally {
      request.signal.removeEventListener('abort', onAbort);
      this.#abandoned.delete(request);
    }
  }

  #state(): HostState {
    const [oldest] = this.#abandoned.values();
    return { abandonedMs: oldest === undefined ? 0 : performance.now() - oldest };
  }
}

/**
 * Modules in the executable for handler files: `import { Elysia, t } from 'elysia'` needs no `node_modules`. They win over a
 * copy beside the handler, because there can be only one class `Elysia`.
 */
const MODULES: Readonly<Record<string, object>> = {
  elysia,
  svc: { data },
  '@sinclair/typebox': typebox,
  '@sinclair/typebox/compiler': compiler,
  '@sinclair/typebox/system': system,
  '@sinclair/typebox/value': value,
};

function provideModules(): void {
  void Bun.plugin({
    name: 'svc',
    setup(builder) {
      for (const [name, exports] of Object.entries(MODULES)) {
        builder.module(name, () => ({ exports: { ...exports }, loader: 'object' }));
      }
    },
  });
}
