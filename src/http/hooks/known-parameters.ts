/**
 * Query parameters that nobody knows are refused: a slip such as `limt=10` would otherwise answer another question.
 * Pages take any, and so do routes whose clients are known to send their own (events and their dialects, sign-in).
 */
import { invalidRequest } from '../../base/errors.ts';
import { suggestion } from '../../config/nearest-name.ts';
import type { Context } from '../context.ts';
import { isSafeMethod, type Route } from '../route.ts';

/** What programs add so that no cache answers: `_=1700000000`, `_t`, `_dc`. */
const CACHE_BUSTER = /^_[a-z]{0,2}$/i;
const STRICT_PATH = /^\/(?:api(?!\/events)|admin(?!\/ui)|search2?)(?:\/|$)/;

const known = new WeakMap<readonly Route[], ReadonlyMap<string, readonly string[]>>();

/** Throws `invalid-request` naming the nearest one. `hint` is for names that are near to none. */
export function requireKnownParameters(
  context: Context,
  names: readonly string[],
  hint = '',
): void {
  if (context.search.length < 2) return;
  const unknown = [...new Set(context.query.keys())].filter(
    (name) => name !== '' && !names.includes(name) && !CACHE_BUSTER.test(name),
  );
  if (unknown.length === 0) return;
  throw invalidRequest(
    ...unknown.map((name) => {
      const taken = names.length === 0 ? 'None is taken here' : `Taken are ${names.join(', ')}`;
      const near = suggestion(name, names) || `${hint}.`;
      const msg = `Unknown parameter '${name.slice(0, 100)}'${near} ${taken}`;
      return { type: 'extra_forbidden', loc: ['query', name.slice(0, 100)], msg };
    }),
  );
}

/** The same for a route with a description, which names its parameters. */
export function requireDescribedParameters(context: Context, path: string): void {
  if (context.search.length < 2 || !STRICT_PATH.test(path)) return;
  // A page: searching has one at the same address.
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
