import { Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import type { Context } from '../http/context.ts';
import { PRIVATE } from '../http/reply/headers.ts';
import { pageReply } from '../http/reply/page-reply.ts';
import { docsPage } from '../pages/views/docs.tsx';
import { operationPage } from '../pages/views/operation.tsx';
import type { Reply } from '../http/reply/reply.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { door } from '../http/door.ts';

export const openApiRoutes = new Elysia({ name: 'openapi' })
  .use(door)
  .get(
    '/openapi.json',
    async ({ ask: { services, caller } }) => {
      const { pieces, etag } = await services.describeApi(caller);
      const body = pieces.length === 1 ? pieces[0]! : streamOf(pieces);
      return bodyReply(body, 'application/json', { etag });
    },
    { checks: { access: 'public', hasJsonErrors: true, cacheControl: PRIVATE } },
  )
  .get(
    '/docs',
    ({ ask }) => {
      const path = ask.queryValue('path');
      return path === null ? listing(ask) : operation(ask, path);
    },
    { checks: { access: 'public', cacheControl: PRIVATE } },
  );

async function* streamOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

async function listing(context: Context): Promise<Reply> {
  const { services, caller } = context;
  const filter = (context.queryValue('filter') ?? '').trim();
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const found = await services.listOperations(caller, { filter, offset });
  return pageReply(context, docsPage, { ...found, filter, isSignedIn: caller !== null });
}

async function operation(context: Context, path: string): Promise<Reply> {
  const { services, caller, baseUrl } = context;
  const method = (context.queryValue('method') ?? 'get').toUpperCase();
  const found = await services.findOperation(caller, { method, path });
  if (found === null) throw new AppError('not-found', 'Not Found');
  return pageReply(context, operationPage, { ...found, origin: new URL(baseUrl).origin });
}
