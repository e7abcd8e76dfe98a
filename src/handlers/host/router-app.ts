/**
 * The router of a handler file as a function from request to response, with errors in our shapes.
 *
 * A handler may have its own `onError`; its hooks run after ours and cannot be queried. So our hook only records the
 * error, and an answer that is Elysia's own rendering of it, recognised by its text, is replaced: Elysia would show
 * the message of an exception to everybody.
 */
import { Elysia, ValidationError } from 'elysia';
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
    if (code === 'VALIDATION') return Response.json({ detail: issuesOf(error) }, { status: 422 });
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

function issuesOf(error: unknown): object[] {
  if (!(error instanceof ValidationError)) return [];
  const source = error.type === 'params' ? 'path' : error.type;
  const issues = error.all.slice(0, MAX_ISSUES).map((issue) => {
    const at = 'path' in issue && typeof issue.path === 'string' ? issue.path : '';
    const fields = at.split('/').filter((field) => field !== '');
    const msg = 'message' in issue && typeof issue.message === 'string' ? issue.message : '';
    return { type: 'value_error', loc: [source, ...fields], msg: msg || 'The value is not valid' };
  });
  return issues.length > 0
    ? issues
    : [{ type: 'value_error', loc: [source], msg: 'The value is not valid' }];
}

/** For `Allow`: includes HEAD and OPTIONS; empty when no route matches. */
function methodsAt(
  routes: readonly { readonly method: string; readonly path: string }[],
  path: string,
): string[] {
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
