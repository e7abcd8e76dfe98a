/**
 * The router of a handler file as a function from request to response, with errors in our shapes.
 *
 * A handler may have its own `onError`; its hooks run after ours and cannot be queried. So our hook only records the
 * error, and an answer that is Elysia's own rendering of it, recognised by its text, is replaced: Elysia would show
 * the message of an exception to everybody.
 */
import { TransformDecodeError } from '@sinclair/typebox/value';
import { Elysia } from 'elysia';
import { THROWN_HEADER, type Thrown } from '../host-protocol.ts';

/** Never rejects. */
export interface RouterApp {
  readonly elysia: Elysia;
  answer(request: Request): Promise<Response>;
}

interface Noted {
  readonly code: unknown;
  readonly error: unknown;
}

const MAX_ISSUES = 20;

// Elysia tells it by its name, which a minified executable does not keep, and else ignores it.
Object.defineProperty(TransformDecodeError, 'name', { value: 'TransformDecodeError' });

/** Awaits lazily loaded plugins and throws what they throw. */
export async function createRouterApp(router: Elysia): Promise<RouterApp> {
  const noted = new WeakMap<Request, Noted>();
  // standardHostname: Elysia otherwise looks for the path from the eleventh character of the URL on.
  const elysia = new Elysia({ handler: { standardHostname: false } })
    .onError(({ request, code, error }) => {
      noted.set(request, { code, error });
    })
    .use(router) as unknown as Elysia;
  await elysia.modules;
  elysia.compile();
  return {
    elysia,
    async answer(request) {
      try {
        const response = await elysia.fetch(request);
        const failure = noted.get(request);
        const answer =
          failure === undefined ? response : await answerTo(failure, request, response);
        return request.method === 'HEAD' ? withTypeOfText(answer) : answer;
      } catch (error) {
        return thrown(error);
      }
    },
  };

  async function answerTo(
    { code, error }: Noted,
    request: Request,
    response: Response,
  ): Promise<Response> {
    if (!(await isOwnRendering(response, error))) return response;
    if (code === 'NOT_FOUND') return nothingThere(elysia, request);
    if (code === 'VALIDATION')
      return Response.json({ detail: issuesOf(error, request, elysia.routes) }, { status: 422 });
    if (response.status >= 400 && response.status < 500) {
      const detail = error instanceof Error ? error.message : 'Bad Request';
      return Response.json({ detail }, { status: response.status });
    }
    return thrown(error);
  }
}

/** Elysia's answer to HEAD lacks the type that the runtime adds when it sends text. */
function withTypeOfText(response: Response): Response {
  const { headers } = response;
  const hasText = Number(headers.get('content-length')) > 0 && !headers.has('content-type');
  if (hasText) headers.set('content-type', 'text/plain;charset=utf-8');
  return response;
}

/** Elysia answers with the error's text. */
async function isOwnRendering(response: Response, error: unknown): Promise<boolean> {
  if (!(error instanceof Error) || response.bodyUsed) return false;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return false;
  return (await response.clone().text()) === error.message;
}

function thrown(error: unknown): Response {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const headers = { [THROWN_HEADER]: '1' };
  return Response.json({ message, stack: stack ?? message } satisfies Thrown, {
    status: 500,
    headers,
  });
}

/** 404, or 405 and OPTIONS for an existing path. */
function nothingThere(elysia: Elysia, { method, url }: Request): Response {
  const methods = methodsAt(elysia.routes, new URL(url).pathname);
  if (methods.length === 0) return Response.json({ detail: 'Not Found' }, { status: 404 });
  const headers = { Allow: methods.join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers });
  return Response.json({ detail: 'Method Not Allowed' }, { status: 405, headers });
}

function issuesOf(error: unknown, request: Request, routes: Routes): object[] {
  const { all, error: single, type, value } = error as Partial<Refusal>;
  const found = all ?? (single ? [single] : []);
  const isPlaced = type !== undefined && type !== 'property';
  const place = isPlaced ? [PLACES[type] ?? type] : placeOf(value, request, routes);
  const issues = new Map<string, object>();
  for (const { path, message, schema } of found.slice(0, MAX_ISSUES)) {
    const loc = [...place, ...(path ?? '').split('/').filter((field) => field !== '')];
    const isUnion = message === 'Expected union value';
    const msg = (isUnion && expectation(schema)) || message || 'The value is not valid';
    const key = loc.join('/');
    // A missing value is no value of its type either.
    if (!issues.has(key)) issues.set(key, { type: 'value_error', loc, msg });
  }
  if (issues.size > 0) return [...issues.values()];
  return [{ type: 'value_error', loc: place, msg: 'The value is not valid' }];
}

const PLACES: Readonly<Record<string, string>> = { params: 'path', headers: 'header' };

/** What is read of the errors of Elysia and of its validator. */
interface Refusal {
  /** Of the request; `property` for one value of it, which is not named. */
  readonly type: string;
  readonly value: unknown;
  readonly all: readonly Issue[];
  readonly error: Issue;
}

interface Issue {
  readonly path?: string;
  readonly message?: string;
  readonly schema?: Schema;
}

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
}

/** Of several alternatives, which the validator calls a union; null for anything else. */
function expectation(schema: Schema | undefined): string | null {
  const alternatives = schema?.anyOf;
  if (alternatives === undefined) return null;
  // Elysia's own numbers and truth values also come as texts.
  const named = alternatives.filter(({ type, format }) => type !== 'string' || !format);
  const words = (named.length > 0 ? named : alternatives).map((one) =>
    one.const === undefined ? (one.type?.toLowerCase() ?? one.format) : JSON.stringify(one.const),
  );
  const known = [...new Set(words.filter((word) => word !== undefined))];
  const isDate = known.includes('date');
  return known.length === 0 ? null : `Expected ${isDate ? 'date' : known.join(' or ')}`;
}

/** Where the request has this value. */
function placeOf(value: unknown, request: Request, routes: Routes): string[] {
  const { pathname, searchParams } = new URL(request.url);
  const text = [value].flat().join();
  for (const name of new Set(searchParams.keys())) {
    const sent = searchParams.getAll(name).join();
    const isNumber = typeof value === 'number' && sent.trim() !== '' && Number(sent) === value;
    if (sent === text || isNumber) return ['query', name];
  }
  const route = routes.find(({ path }) => path.includes(':') && matches(path, pathname));
  const parts = segmentsOf(pathname);
  for (const [index, part] of segmentsOf(route?.path ?? '').entries()) {
    const isValue = part.startsWith(':') && String(value) === String(Number(parts[index]));
    if (isValue) return ['path', part.slice(1).replace('?', '')];
  }
  return [request.body === null ? 'query' : 'body'];
}

type Routes = readonly { readonly method: string; readonly path: string }[];

/** For `Allow`: includes HEAD and OPTIONS; empty when no route matches. */
function methodsAt(routes: Routes, path: string): string[] {
  const methods = routes.filter((route) => matches(route.path, path)).map(({ method }) => method);
  if (methods.length === 0) return [];
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set([...all, 'OPTIONS'])];
}

/** `:name` stands for one segment, `:name?` for one or none, `*` at the end for the rest. */
function matches(pattern: string, path: string): boolean {
  const segments = segmentsOf(path);
  const wanted = segmentsOf(pattern);
  for (const [index, part] of wanted.entries()) {
    if (part === '*') return true;
    const segment = segments[index];
    if (part.startsWith(':')) {
      if (segment === undefined && !part.endsWith('?')) return false;
    } else if (part !== segment) return false;
  }
  return segments.length <= wanted.length;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}
