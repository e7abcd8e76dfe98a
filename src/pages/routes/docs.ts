import { Elysia } from 'elysia';
import { findOperation, listOperations } from '../../api/openapi/api-pages.ts';
import { AppError } from '../../base/errors.ts';
import type { Context } from '../../http/context.ts';
import { door } from '../../http/door.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { pageReply } from '../page-reply.ts';
import { docsPage } from '../views/docs.tsx';
import { operationPage } from '../views/operation.tsx';

export const docsRoute = new Elysia({ name: 'docs' }).use(door).get(
  '/docs',
  ({ ask }) => {
    const path = ask.queryValue('path');
    return path === null ? listing(ask) : operation(ask, path);
  },
  { checks: { access: 'public', cacheControl: PRIVATE } },
);

async function listing(context: Context): Promise<Reply> {
  const { services, caller } = context;
  const filter = (context.queryValue('filter') ?? '').trim();
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const found = await listOperations(services, caller, { filter, offset });
  return pageReply(context, docsPage, { ...found, filter, isSignedIn: caller !== null });
}

async function operation(context: Context, path: string): Promise<Reply> {
  const { services, caller, baseUrl } = context;
  const method = (context.queryValue('method') ?? 'get').toUpperCase();
  const found = await findOperation(services, caller, { method, path });
  if (found === null) throw new AppError('not-found', 'Not Found');
  return pageReply(context, operationPage, { ...found, origin: new URL(baseUrl).origin });
}
