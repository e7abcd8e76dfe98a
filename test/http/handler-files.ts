/**
 * Handler files with the same routes in both languages, for tests.
 */

/** Whether this machine can run Python handlers. */
export function hasPythonHandlers(): boolean {
  return handlerPython() !== null;
}

/** A Python that can run handlers; null for none, which is told once on standard output. */
export function handlerPython(): string | null {
  return (found ??= { program: probe() }).program;
}

let found: { readonly program: string | null } | undefined;

function probe(): string | null {
  const programs = (process.env['PATH'] ?? '')
    .split(':')
    .flatMap((folder) => Bun.which('python3', { PATH: folder }) ?? []);
  const code = 'import fastapi, uvicorn';
  const program = programs.find(
    (one) => Bun.spawnSync([one, '-c', code], { cwd: '/' }).exitCode === 0,
  );
  if (program === undefined) {
    console.log('Python handlers are not tested: no python3 has fastapi and uvicorn');
  }
  return program ?? null;
}

export const SCRIPT = `
import { Elysia, sse, t } from 'elysia';

let release = () => {};
const echo = async ({ request }: { request: Request }) => {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  };
};

export const router = new Elysia()
  .get('/', () => ({ hello: 'root' }))
  .get('/echo/*', echo)
  .post('/echo/*', echo, { parse: 'none' })
  .get('/headers', () => {
    const headers = new Headers({
      'content-security-policy': "default-src 'none'",
      'cache-control': 'max-age=5',
      'x-frame-options': 'ALLOWALL',
      'x-request-id': 'forged',
      'x-svc-user': 'forged',
      'keep-alive': 'timeout=1',
    });
    headers.append('set-cookie', 'svc_session=stolen; Path=/');
    headers.append('set-cookie', 'theirs=1; Path=/');
    return new Response('text', { status: 203, headers });
  })
  .post('/items', ({ body }) => body, { body: t.Object({ count: t.Integer() }) })
  .get('/throw', () => { throw new Error('told nobody'); })
  .get('/events', async function* () {
    const released = new Promise<void>((resolve) => { release = resolve; });
    yield sse({ data: 'first' });
    await released;
    yield sse({ data: 'second' });
    await new Promise(() => {});
  })
  .get('/release', () => { release(); return 'ok'; })
  .get('/large', () => new Response(new Uint8Array(5_000_000)))
  .get('/environment', () => ({ environment: process.env, folder: process.cwd() }));
`;

export const PYTHON = `
import asyncio
import os
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

router = APIRouter()
released = asyncio.Event()

class Item(BaseModel):
    count: int

@router.get("/")
def root():
    return {"hello": "root"}

@router.api_route("/echo/{rest:path}", methods=["GET", "POST"])
async def echo(request: Request):
    return {
        "method": request.method,
        "path": request.url.path,
        "query": dict(request.query_params),
        "headers": dict(request.headers),
        "body": (await request.body()).decode(),
    }

@router.get("/headers")
def headers():
    response = Response("text", status_code=203, headers={
        "content-security-policy": "default-src 'none'",
        "cache-control": "max-age=5",
        "x-frame-options": "ALLOWALL",
        "x-request-id": "forged",
        "x-svc-user": "forged",
    })
    response.headers.append("set-cookie", "svc_session=stolen; Path=/")
    response.headers.append("set-cookie", "theirs=1; Path=/")
    return response

@router.post("/items")
def items(item: Item):
    return item

@router.get("/throw")
def throw():
    raise ValueError("told nobody")

@router.get("/events")
async def events():
    async def produce():
        global released
        released = asyncio.Event()
        yield "data: first\\n\\n"
        await released.wait()
        yield "data: second\\n\\n"
        await asyncio.sleep(3600)
    return StreamingResponse(produce(), media_type="text/event-stream")

@router.get("/release")
async def release():
    released.set()
    return "ok"

@router.get("/large")
def large():
    return Response(bytes(5_000_000))

@router.get("/environment")
def environment():
    return {"environment": dict(os.environ), "folder": os.getcwd()}
`;
