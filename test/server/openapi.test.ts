/**
 * The OpenAPI document and the routes name each other (DS-190): a route nobody described fails here.
 */
import { describe, expect, test } from 'bun:test';
import { hostedDocument } from '../../src/api/openapi/api-description.ts';
import { documentedPath } from '../../src/api/openapi/built-in-paths.ts';
import { routes } from '../../src/routes.ts';

/** What DS-190 leaves out, what exists only before there is a first superuser (DS-211), and what only ever refuses. */
const UNLISTED =
  /^\/(?:dav|docs|mcp|openapi\.json|favicon\.ico|auth\/setup)(?:\/|$)|^\/(?:_svc\/(?!changes|companions|dashboards|history|files|trash)|\.well-known\/)|^\/elastic\/\{path/;

const listed = routes.filter(({ pattern }) => !UNLISTED.test(pattern));

describe('DS-190 what stands in the document', () => {
  test('every method of every route is described, or the contract leaves it out', () => {
    const missing = listed.flatMap(({ pattern, methods, describes }) =>
      methods
        .filter((method) => describes[method] === undefined)
        .map((method) => `${method} ${pattern}`),
    );
    // Add `describes` to the route (src/http/route.ts).
    expect(missing).toEqual([]);
  });

  test('nothing is described that no route answers, and nothing the contract leaves out', () => {
    const wrong = routes.flatMap(({ pattern, methods, describes }) =>
      Object.keys(describes)
        .filter((method) => !methods.includes(method as 'GET') || UNLISTED.test(pattern))
        .map((method) => `${method} ${pattern}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the hosted document lists exactly the routes', () => {
    const { paths } = hostedDocument(routes) as { paths: Record<string, object> };
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const expected = listed.flatMap((route) =>
      route.methods.map((method) => `${method} ${documentedPath(route)}`),
    );
    expect(documented.sort()).toEqual(expected.sort());
  });

  test('DS-192 the hosted document declares the schemes and asks for none', () => {
    const document = hostedDocument(routes) as {
      components: { securitySchemes: object };
      security?: unknown;
      paths: Record<string, Record<string, { security?: unknown }>>;
    };
    expect(Object.keys(document.components.securitySchemes)).toEqual([
      'cookie',
      'apiKey',
      'bearer',
      'basic',
      'tokenAuth',
    ]);
    expect(document.security).toBeUndefined();
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(operations.filter(({ security }) => security !== undefined)).toEqual([]);
  });

  test('operations have names of their own', () => {
    const { paths } = hostedDocument(routes) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});
