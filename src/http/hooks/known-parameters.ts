/**
 * Unknown query parameters are ignored, but a slip such as `limt=10` is refused: it would answer another question. Not on
 * pages, and not on routes whose clients send their own (events and their dialects, sign-in).
 */
import { invalidRequest } from '../../base/errors.ts';
import { suggestion } from '../../config/nearest-name.ts';
import type { Context, Route } from '../context.ts';
import { isSafeMethod } from '../route.ts';

/** Every name is near one of one or two letters; brackets and capitals belong to other programs. */
const SLIP = /^[a-z][a-z_]{2,}$/;
const STRICT_PATH = /^\/(?:api(?!\/events)|admin(?!\/ui)|search2?)(?:\/|$)/;

const known = new WeakMap<readonly Route[], ReadonlyMap<string, readonly string[]>>();

/** Throws `invalid-request` naming the nearest one. */
export function requireKnownParameters(context: Context, names: readonly string[]): void {
  if (context.search.length < 2) return;
  const slips = [...new Set(context.query.keys())].flatMap((name) => {
    const near = names.includes(name) || !SLIP.test(name) ? '' : suggestion(name, names);
    return near === '' ? [] : [{ name, near }];
  });
  if (slips.length === 0) return;
  throw invalidRequest(
    ...slips.map(({ name, near }) => ({
      type: 'extra_forbidden' as const,
      loc: ['query', name.slice(0, 100)],
      msg: `Unknown parameter '${name.slice(0, 100)}'${near} Taken are ${names.join(', ')}`,
    })),
  );
}

/** For a route whose description names its parameters. */
export function requireDescribedParameters(context: Context, path: string): void {
  if (context.search.length < 2 || !STRICT_PATH.test(path)) return;
  // A page may share the address.
  if (context.wantsHtml && isSafeMethod(context.method)) return;
  const { routes } = context.services;
  let table = known.get(routes);
  if (table === undefined) known.set(routes, (table = parametersOf(routes)));
  const method = context.method === 'HEAD' ? 'GET' : context.method;
  const names = table.get(`${method} ${path}`);
  if (names !== undefined) requireKnownParameters(context, names);
}

function parametersOf(routes: readonly Route[]): Map<string, readonly string[]> {
  return new Map(
    routes.flatMap(({ path, describes }) =>
      Object.entries(describes).map(([method, { parameters = [] }]): [string, string[]] => [
        `${method} ${path}`,
        parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])),
      ]),
    ),
  );
}
