import type { ExactValues } from '../../tables/read/list-plan.ts';
import {
  type Administrator,
  type ListRequest,
  administratorOf,
} from '../../operations/administration.ts';
import type { ListPage } from '../../store/list-source.ts';
import type { Context, ServerServices } from '../../http/context.ts';
import { nextLink } from '../../http/link-query.ts';
import { jsonReply, type Reply } from '../../http/reply/reply.ts';
import type { Asked } from '../../http/lifecycle.ts';

type Operation<Input extends unknown[], Output> = (
  services: ServerServices,
  admin: Administrator,
  ...input: Input
) => Promise<Output>;

export function answersList(
  list: Operation<[ListRequest], ListPage>,
  exactOf?: (context: Context) => ExactValues,
): (asked: Asked) => Promise<Reply> {
  return async ({ ask: context }) => {
    const exact = exactOf?.(context);
    const request = { query: context.query, ...(exact !== undefined && { exact }) };
    return listReply(context, await list(context.services, adminOf(context), request));
  };
}

export function answersNew(
  create: Operation<[body: unknown], object>,
): (asked: Asked) => Promise<Reply> {
  return async ({ ask: context }) => {
    const body = await context.json();
    return jsonReply(await create(context.services, adminOf(context), body));
  };
}

export function answersOne(
  read: Operation<number[], object>,
  ...parameters: readonly string[]
): (asked: Asked) => Promise<Reply> {
  return async ({ ask: context }) => {
    const ids = parameters.map((name) => context.intParameter(name));
    return jsonReply(await read(context.services, adminOf(context), ...ids));
  };
}

export function answersDone(
  change: Operation<number[], unknown>,
  ...parameters: readonly string[]
): (asked: Asked) => Promise<Reply> {
  return async ({ ask: context }) => {
    const ids = parameters.map((name) => context.intParameter(name));
    await change(context.services, adminOf(context), ...ids);
    return successReply();
  };
}

export function listReply(context: Context, page: ListPage): Reply {
  const headers = {
    'X-Total-Count': String(page.total),
    ...nextLink(context, page.nextCursor),
  };
  return jsonReply(page.items, { headers });
}

export function successReply(): Reply {
  return jsonReply({ success: true });
}

export const adminChecks = { access: 'superuser', refusesScopedKeys: true } as const;
/** For answers without secrets. */
export const repeatableAdminChecks = { ...adminChecks, repeats: () => undefined } as const;

export function adminOf({ caller, origin }: Context): Administrator {
  return administratorOf(caller, origin);
}
