/**
 * The OpenAPI 3.1.0 document of one caller: built-in routes, published files, what handlers report.
 *
 * Pure: everything that decides what is shown is an argument.
 */
import { encodePath } from '../../base/paths.ts';
import type { DescribedResource } from '../../operations/files/resources.ts';
import { API_VERSION } from '../health.ts';
import { builtInPath } from './built-in-paths.ts';
import { headerComponents, parameterComponents } from './dataset-parameters.ts';
import { handlerItem } from './handler-paths.ts';
import { type JsonObject, type DocumentParts, newParts, securitySchemes } from './models.ts';
import { resourcePaths } from './resource-paths.ts';
import type { Route } from '../../http/context.ts';
import type { Viewer } from '../../http/operation-description.ts';

export interface DocumentOrder {
  /** Those that are on, whoever may see them. */
  readonly routes: readonly Route[];
  /** Null: an empty document root, a superuser, no security. */
  readonly viewer: Viewer | null;
  /** Path of `public_url`, `''` without one. */
  readonly basePath: string;
  readonly resources: readonly DescribedResource[];
  /** Operations with one of these tags; null: all. */
  readonly tags: readonly string[] | null;
  /** As the programs report them, with paths relative to `/api/<name>`. */
  readonly handlerPaths: ReadonlyMap<DescribedResource, JsonObject>;
}

const HEAD = {
  openapi: '3.1.0',
  info: { title: 'svc', version: API_VERSION },
};

function headOf({ basePath }: DocumentOrder): JsonObject {
  return { ...HEAD, servers: [{ url: basePath || '/' }] };
}

export function openApiDocument(order: DocumentOrder): JsonObject {
  const parts = newParts(order.viewer !== null);
  const paths = Object.fromEntries(pathItems(order, parts));
  return { ...headOf(order), paths, components: componentsOf(parts) };
}

/** As JSON text, generated piece by piece: thousands of files make a hundred megabytes. */
export function* openApiText(order: DocumentOrder): Generator<string> {
  const parts = newParts(order.viewer !== null);
  yield `${JSON.stringify(headOf(order)).slice(0, -1)},"paths":{`;
  let between = '';
  const referred = new Set<string>();
  for (const [path, item] of pathItems(order, parts)) {
    const text = JSON.stringify(item);
    if (order.tags !== null) addReferences(text, referred);
    yield `${between}${JSON.stringify(path)}:${text}`;
    between = ',';
  }
  const components = componentsOf(parts);
  const shown = order.tags === null ? components : onlyReferred(components, referred);
  yield `},"components":${JSON.stringify(shown)}}`;
}

function addReferences(json: string, found: Set<string>): void {
  for (const [, pointer = ''] of json.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
    found.add(pointer);
  }
}

/** Those, and what they refer to; security schemes are referred to by name. */
function onlyReferred(components: JsonObject, referred: Set<string>): JsonObject {
  const pick = (section: string): [string, unknown][] =>
    Object.entries(components[section] as JsonObject).filter(([name]) =>
      referred.has(`${section}/${name}`),
    );
  const { securitySchemes, ...others } = components;
  const sections = Object.keys(others);
  for (let known = -1; known < referred.size;) {
    known = referred.size;
    for (const section of sections) addReferences(JSON.stringify(pick(section)), referred);
  }
  const kept = sections.map((section) => [section, Object.fromEntries(pick(section))]);
  return { ...Object.fromEntries(kept), securitySchemes };
}

/** Call after all paths are written: errors refer to models too. */
function componentsOf(parts: DocumentParts): JsonObject {
  const responses = parts.errors.components(parts.models);
  return {
    schemas: parts.models.models,
    responses,
    parameters: parameterComponents(),
    headers: headerComponents,
    securitySchemes,
  };
}

function* pathItems(
  order: DocumentOrder,
  parts: DocumentParts,
): Generator<readonly [string, JsonObject]> {
  const { viewer, tags } = order;
  const taken = new Set<string>();
  const isNew = ([path]: readonly [string, JsonObject]): boolean => {
    const size = taken.size;
    return taken.add(path).size > size;
  };
  for (const route of order.routes) {
    if (viewer !== null && !isListed(route, viewer)) continue;
    const entry = builtInPath(route, parts);
    if (entry !== null && isNew(entry)) yield* tagged(entry, tags);
  }
  for (const described of order.resources) {
    for (const entry of itemsOf(described, order, taken, parts)) {
      if (isNew(entry)) yield* tagged(entry, tags);
    }
  }
}

/** With the operations that have one of the tags; nothing without any. */
function* tagged(
  [path, item]: readonly [string, JsonObject],
  tags: readonly string[] | null,
): Generator<readonly [string, JsonObject]> {
  const operations = Object.entries(item).filter(
    ([, operation]) =>
      tags === null ||
      ((operation as JsonObject)['tags'] as readonly string[]).some((tag) => tags.includes(tag)),
  );
  if (operations.length > 0) yield [path, Object.fromEntries(operations)];
}

function isListed({ rules: route }: Route, viewer: Viewer): boolean {
  if (route.isListedFor !== undefined) return route.isListedFor(viewer);
  if (route.access === 'superuser') return viewer.caller?.isSuperuser === true;
  return route.access === 'public' || viewer.caller !== null;
}

function* itemsOf(
  described: DescribedResource,
  { handlerPaths }: DocumentOrder,
  taken: ReadonlySet<string>,
  parts: DocumentParts,
): Generator<readonly [string, JsonObject]> {
  const { canonical, extensionForm } = described.resource;
  // Under a built-in path the file only answers with its extension in the address.
  const items = resourcePaths(described, canonical, parts);
  const isShadowed = items.some(([path]) => isTaken(path, taken));
  const shown = isShadowed ? resourcePaths(described, extensionForm, parts) : items;
  for (const entry of shown) if (Object.keys(entry[1]).length > 0) yield entry;
  const prefix = `/api/${encodePath(canonical)}`;
  for (const [path, item] of Object.entries(handlerPaths.get(described) ?? {})) {
    const address = prefix + path;
    const shownItem = handlerItem(item as JsonObject, described, address, parts);
    if (Object.keys(shownItem).length > 0) yield [address, shownItem];
  }
}

/** With or without its last slash. */
function isTaken(path: string, taken: ReadonlySet<string>): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  return taken.has(plain) || taken.has(`${plain}/`);
}
