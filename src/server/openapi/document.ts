/**
 * The OpenAPI 3.1.0 document of one caller (DS-190 to DS-192): built-in routes, published files, what handlers report.
 *
 * Pure: everything that decides what is shown comes in as an argument.
 */
import { encodePath } from '../../base/paths.ts';
import type { DescribedResource } from '../../operations/resources.ts';
import type { Viewer } from '../operation-description.ts';
import type { Route } from '../route-table.ts';
import { API_VERSION } from '../routes/health.ts';
import { builtInPath } from './built-in-paths.ts';
import { headerComponents, parameterComponents } from './dataset-parameters.ts';
import { handlerItem } from './handler-paths.ts';
import type { JsonObject } from './models.ts';
import { type DocumentParts, newParts, securitySchemes } from './parts.ts';
import { resourcePaths } from './resource-paths.ts';

interface DocumentOrder {
  /** Those that are on, whoever may see them. */
  readonly routes: readonly Route[];
  /** Null: of an empty document root, for a superuser, without security (DS-192). */
  readonly viewer: Viewer | null;
  readonly resources: readonly DescribedResource[];
  /** Path items as handler files report them, from below `/api/<name>`, by the resource they belong to. */
  readonly handlerPaths: ReadonlyMap<DescribedResource, JsonObject>;
}

/** The document, ready for JSON. */
export function openApiDocument(order: DocumentOrder): JsonObject {
  const { viewer } = order;
  const parts = newParts(viewer !== null);
  const paths = new Map<string, JsonObject>();
  for (const route of order.routes) {
    if (viewer !== null && !isListed(route, viewer)) continue;
    const entry = builtInPath(route, parts);
    if (entry !== null) paths.set(...entry);
  }
  for (const described of order.resources) addResource(paths, described, order, parts);
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version: API_VERSION },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemasOf(parts),
      responses: parts.errors.components(parts.models),
      parameters: parameterComponents(),
      headers: headerComponents,
      securitySchemes,
    },
  };
}

/** Whether the caller finds the route in the document. */
function isListed(route: Route, viewer: Viewer): boolean {
  if (route.isListedFor !== undefined) return route.isListedFor(viewer);
  if (route.access === 'superuser') return viewer.caller?.isSuperuser === true;
  return route.access === 'public' || viewer.caller !== null;
}

function addResource(
  paths: Map<string, JsonObject>,
  described: DescribedResource,
  { handlerPaths }: DocumentOrder,
  parts: DocumentParts,
): void {
  const { canonical, extensionForm } = described.resource;
  // Under a built-in path the file only answers by its extension form (DS-29).
  const items = resourcePaths(described, canonical, parts);
  const isShadowed = items.some(([path]) => isTaken(path, paths));
  const shown = isShadowed ? resourcePaths(described, extensionForm, parts) : items;
  for (const [path, item] of shown) {
    if (Object.keys(item).length > 0 && !paths.has(path)) paths.set(path, item);
  }
  const prefix = `/api/${encodePath(canonical)}`;
  for (const [path, item] of Object.entries(handlerPaths.get(described) ?? {})) {
    const address = prefix + path;
    const shownItem = handlerItem(item as JsonObject, described, address, parts);
    if (Object.keys(shownItem).length > 0 && !paths.has(address)) paths.set(address, shownItem);
  }
}

/** Whether a path is another's, with or without its last slash (DS-4). */
function isTaken(path: string, paths: ReadonlyMap<string, JsonObject>): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  return paths.has(plain) || paths.has(`${plain}/`);
}

/** After everything else was written: errors name models too. */
function schemasOf(parts: DocumentParts): JsonObject {
  parts.errors.components(parts.models);
  return parts.models.models;
}
