/** Which resources a built-in route hides under one of their names, for the warnings of `svc check`. */
import { decodePath } from '../../base/paths.ts';
import { pathsOf } from './addresses.ts';
import type { Resource } from './registry.ts';

/** A built-in route has the path of its canonical name. */
interface ShadowedName<R> {
  readonly resource: R;
  readonly path: string;
  readonly pattern: string;
  readonly isFormShadowed: boolean;
}

/**
 * Whether this configuration or version serves it or not: turning on a feature must not take away a name that works
 * today.
 */
export const RESERVED_PATTERNS: readonly string[] = [
  ...['/', '/health', '/metrics', '/docs', '/openapi.json', '/favicon.ico', '/_svc/*'],
  ...['/.well-known/*', '/auth/login', '/auth/logout', '/auth/me', '/auth/password', '/auth/setup'],
  ...['/auth/links', '/auth/links/{id}', '/auth/share'],
  ...['/auth/sessions', '/auth/sessions/{id}', '/auth/oidc/login', '/auth/oidc/callback'],
  ...['/profile', '/admin', '/search', '/mcp', '/ui/media', '/events', '/savedsearches'],
  ...[
    '/api',
    '/api/apikeys',
    '/api/apikeys/{id}',
    '/api/uploads',
    '/api/events',
    '/api/events/{id:int}',
    '/api/sql',
    '/sql',
  ],
  ...['tail', 'histogram', 'fields'].map((name) => `/api/events/${name}`),
  ...['/api/savedsearches', '/api/savedsearches/{id:int}', '/api-token-auth'],
  ...['/api/alerts', '/api/alerts/preview', '/api/alerts/{id:int}'],
  ...['enable', 'disable', 'approve', 'run', 'runs', 'rows'].map(
    (name) => `/api/alerts/{id:int}/${name}`,
  ),
  ...['/api/findings', '/api/findings/{id}', '/api/findings/{id}/history'],
  ...['/ui/findings', '/ui/findings/{id}'],
  ...['/ui/alerts', '/ui/alerts/new', '/ui/alerts/{id}'],
  ...['run', 'validate', 'commands'].map((name) => `/search2/api/${name}`),
  ...['/services/collector', '/services/collector/*', '/_bulk', '/{index}/_bulk', '/elastic'],
  ...['/elastic/*', '/v1/logs', '/loki/api/v1/push'],
];

type Addressed = Pick<Resource, 'canonical' | 'extensionForm' | 'family' | 'alsoIn' | 'type'>;

/**
 * In a pattern `*` as last segment stands for any number of segments, `{x}` or `:x` for one, `{x:int}` for one of
 * digits.
 */
export function shadowedNames<R extends Addressed>(
  resources: Iterable<R>,
  patterns: readonly string[],
): ShadowedName<R>[] {
  const compiled = patterns.map((pattern) => ({ pattern, segments: segmentsOf(pattern) }));
  const covering = (path: string) => {
    const segments = path.split('/').slice(1);
    return compiled.find((candidate) => covers(candidate.segments, segments))?.pattern;
  };
  const shadowed: ShadowedName<R>[] = [];
  for (const resource of resources) {
    const taken = pathsOf(resource, resource.canonical).find((path) => covering(path));
    if (taken === undefined) continue;
    const isFormShadowed = pathsOf(resource, resource.extensionForm).some((path) => covering(path));
    shadowed.push({ resource, path: taken, pattern: covering(taken) ?? '', isFormShadowed });
  }
  return shadowed;
}

function segmentsOf(pattern: string): string[] {
  return decodePath(pattern) ?? [];
}

function covers(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern.at(-1) === '*') {
    return (
      path.length >= pattern.length - 1 &&
      covers(pattern.slice(0, -1), path.slice(0, pattern.length - 1))
    );
  }
  return (
    pattern.length === path.length &&
    pattern.every((segment, i) => coversOne(segment, path[i] ?? ''))
  );
}

function coversOne(pattern: string, segment: string): boolean {
  if (/^\{\w+:int\}$/.test(pattern)) return /^[0-9]+$/.test(segment);
  return /^[:{]/.test(pattern) || pattern === segment;
}
