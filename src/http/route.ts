/**
 * All routes of a server, and the refusals that follow. A path matches with and without one trailing slash, and is owned
 * for all methods: HEAD follows from GET, OPTIONS and 405 from the methods.
 */
import type { AnyElysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import type { Route, RouteRules } from './context.ts';
import type { OperationDescription, RouteMethod } from './operation-description.ts';

/** Set by the macros of lifecycle.ts. */
interface RouteDetail {
  readonly 'x-rules'?: RouteRules;
  readonly 'x-operation'?: OperationDescription;
}

export function routesOf(plugins: readonly AnyElysia[]): Route[] {
  const routes = new Map<string, Route>();
  for (const { path, method, hooks } of plugins.flatMap((plugin) => plugin.routes)) {
    const detail = hooks.detail as RouteDetail | undefined;
    const rules = detail?.['x-rules'];
    if (rules === undefined) throw new RangeError(`The route ${path} has no checks`);
    const known = routes.get(path) ?? {
      path,
      pattern: patternOf(path, rules),
      methods: [],
      rules,
      describes: {},
    };
    const operation = detail?.['x-operation'];
    routes.set(path, {
      ...known,
      methods: [...known.methods, method as RouteMethod],
      describes: { ...known.describes, ...(operation !== undefined && { [method]: operation }) },
    });
  }
  return [...routes.values()];
}

const patterns = new Map<string, string>();

/** As log and metrics name it. */
export function patternOf(
  path: string,
  { hasNumbers, rest = 'rest' }: Pick<RouteRules, 'hasNumbers' | 'rest'>,
): string {
  let pattern = patterns.get(path);
  if (pattern === undefined) {
    pattern = path
      .replace(/:(\w+)/g, hasNumbers === true ? '{$1:int}' : '{$1}')
      .replace(/\*$/, `{${rest}:rest}`);
    patterns.set(path, pattern);
  }
  return pattern;
}

/** GET implies HEAD, OPTIONS always. */
export function allowed(methods: readonly string[]): string {
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set([...all, 'OPTIONS'])].join(', ');
}

const SAFE_ONLY = 'GET, HEAD, OPTIONS';

export function methodNotAllowed(methods: readonly string[]): AppError {
  const headers = { Allow: allowed(methods) };
  return new AppError('method-not-allowed', 'Method Not Allowed', { headers });
}

export function readOnlyMode(): AppError {
  const headers = { Allow: SAFE_ONLY };
  return new AppError('read-only', 'Server is in read-only mode', { headers });
}

export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
