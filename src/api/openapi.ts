import { AppError } from '../base/errors.ts';
import type { Context } from '../http/context.ts';
import { PRIVATE } from '../http/reply/headers.ts';
import { pageReply } from '../http/reply/page-reply.ts';
import { docsPage } from '../pages/views/docs.tsx';
import { operationPage } from '../pages/views/operation.tsx';
import type { Reply } from '../http/reply/reply.ts';
import { bodyReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';

export const openApiRoutes: readonly Route[] = [
  {
    pattern: '/openapi.json',
    access: 'public',
    hasJsonErrors: true,
    cacheControl: PRIVATE,
    methods: {
      GET: async ({ services, caller }) => {
        const { pieces, etag } = await services.describeApi(caller);
        const body = pieces.length === 1 ? pieces[0]! : streamOf(pieces);
        return bodyReply(body, 'application/json', { etag });
      },
    },
  },
  {
    pattern: '/docs',
    access: 'public',
    cacheControl: PRIVATE,
    methods: {
      GET: (context) => {
        const path = context.queryValue('path');
        return path === null ? listing(context) : operation(context, path);
      },
    },
  },
];

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
