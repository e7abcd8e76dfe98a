/**
 * The handlers most routes of administration have: a list, something new, a change of what the path names. Each calls one
 * operation.
 */
import type { ExactValues } from '../../../dataset/list-plan.ts';
import type { Administrator, ListRequest } from '../../../operations/administration.ts';
import type { ListPage } from '../../../store/list-source.ts';
import type { Context } from '../../context.ts';
import type { ServerServices } from '../../dependencies.ts';
import { nextLink } from '../../next-link.ts';
import { jsonReply, type Reply } from '../../reply.ts';
import type { Handler } from '../../route-table.ts';
import { adminOf } from './door.ts';

type Operation<Input extends unknown[], Output> = (
  services: ServerServices,
  admin: Administrator,
  ...input: Input
) => Promise<Output>;

/** The list an address asks for; `exactOf` reads the parameters that only this list has. */
export function answersList(
  list: Operation<[ListRequest], ListPage>,
  exactOf?: (context: Context) => ExactValues,
): Handler {
  return async (context) => {
    const exact = exactOf?.(context);
    const request = { query: context.query, ...(exact !== undefined && { exact }) };
    return listReply(context, await list(context.services, adminOf(context), request));
  };
}

/** Makes what the body says and answers with it. */
export function answersNew(create: Operation<[body: unknown], object>): Handler {
  return async (context) => {
    const body = await context.json();
    return jsonReply(await create(context.services, adminOf(context), body));
  };
}

/** What the ids in the path name, by the names of those parameters. */
export function answersOne(
  read: Operation<number[], object>,
  ...parameters: readonly string[]
): Handler {
  return async (context) => {
    const ids = parameters.map((name) => context.intParameter(name));
    return jsonReply(await read(context.services, adminOf(context), ...ids));
  };
}

/** Changes what the ids in the path name and answers with the plain success. */
export function answersDone(
  change: Operation<number[], unknown>,
  ...parameters: readonly string[]
): Handler {
  return async (context) => {
    const ids = parameters.map((name) => context.intParameter(name));
    await change(context.services, adminOf(context), ...ids);
    return successReply();
  };
}

/** A page of a list with its figures (DS-40, DS-41). */
export function listReply(context: Context, page: ListPage): Reply {
  const headers = {
    'X-Total-Count': String(page.total),
    ...nextLink(context, page.nextCursor),
  };
  return jsonReply(page.items, { headers });
}

/** The answer of a change that has nothing to tell. */
export function successReply(): Reply {
  return jsonReply({ success: true });
}
