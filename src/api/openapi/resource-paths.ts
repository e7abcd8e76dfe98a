/** Published files as path items, as far as the caller may use them. */
import { encodePath } from '../../base/paths.ts';
import { formatDetails, FORMATS } from '../../tables/read/format.ts';
import type {
  DescribedResource,
  DescribedColumn,
  DescribedRows,
} from '../../operations/files/resources.ts';
import {
  CHANGE_PARAMETERS,
  headersNamed,
  LIST_PARAMETERS,
  READ_PARAMETERS,
  ROW_PARAMETER,
  ROW_PARAMETERS,
  SCHEMA_PARAMETERS,
} from './dataset-parameters.ts';
import { bulkModels, changeModel, type JsonObject, type DocumentParts } from './models.ts';

/** `name` is the one the paths are written with. */
export function resourcePaths(
  described: DescribedResource,
  name: string,
  parts: DocumentParts,
): [string, JsonObject][] {
  const { resource } = described;
  const address = encodePath(name);
  if (resource.type === 'handler') return [];
  if (resource.family === 'content') {
    const paths: [string, JsonObject][] = [
      [`/${address}`, content(described, `/${address}`, parts)],
    ];
    if (resource.type === 'dashboard')
      paths.push([`/ui/${address}/`, page(described, `/ui/${address}/`, parts)]);
    return paths;
  }
  if (resource.family === 'media') {
    return [`/media/${address}`, `/ui/${address}`].map((path) => [
      path,
      path.startsWith('/ui/') ? page(described, path, parts) : content(described, path, parts),
    ]);
  }
  return [
    [`/api/${address}/`, rows(described, `/api/${address}/`, parts)],
    [`/api/${address}/{row_id}/`, oneRow(described, `/api/${address}/{row_id}/`, parts)],
    [`/schema/${address}/`, schema(described, `/schema/${address}/`, parts)],
    [`/ui/${address}/`, page(described, `/ui/${address}/`, parts)],
    ...(resource.alsoIn === 'content'
      ? [[`/${address}`, content(described, `/${address}`, parts)] as [string, JsonObject]]
      : []),
  ];
}

function rows(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  const { mayRead, mayWrite } = described;
  return {
    ...(mayRead ? { get: list(described, path, parts) } : {}),
    ...(mayWrite
      ? {
          post: change(described, path, 'create', parts),
          patch: change(described, path, 'update', parts),
          delete: change(described, path, 'delete', parts),
        }
      : {}),
  };
}

function list(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  const { rows: known } = described;
  const row = known === null ? { type: 'object' } : rowSchema(known);
  const bodies: Record<string, JsonObject> = {
    json: { schema: { type: 'array', items: row } },
    ndjson: { schema: row },
  };
  const contents = FORMATS.map((format) => [
    formatDetails[format].mediaType.split(';')[0]!,
    bodies[format] ?? {},
  ]);
  return {
    ...common(described, 'get', path, `List the rows of ${described.resource.canonical}`, parts),
    parameters: LIST_PARAMETERS,
    responses: {
      200: {
        description: 'The rows',
        headers: headersNamed('ETag', 'X-Total-Count', 'Link'),
        content: Object.fromEntries(contents),
      },
      304: { description: 'The version named by If-None-Match is the present one' },
      ...parts.errors.refer([401, 403, 404, 405, 410, 422]),
    },
  };
}

function oneRow(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  const { mayRead, mayWrite, rows: known, resource } = described;
  const operation = (method: string, verb: string): JsonObject => ({
    ...common(described, method, path, `${verb} one row of ${resource.canonical}`, parts),
    parameters: [ROW_PARAMETER, ...(method === 'get' ? ROW_PARAMETERS : CHANGE_PARAMETERS)],
  });
  const values = known === null ? { type: 'object' } : inputSchema(known, { withRowId: false });
  return {
    ...(mayRead && {
      get: {
        ...operation('get', 'Read'),
        responses: {
          200: {
            description: 'The row',
            headers: headersNamed('ETag'),
            content: {
              'application/json': {
                schema: known === null ? { type: 'object' } : rowSchema(known),
              },
            },
          },
          304: { description: 'The version named by If-None-Match is the present one' },
          ...parts.errors.refer([401, 403, 404, 405, 410, 422]),
        },
      },
    }),
    ...(mayWrite && {
      patch: {
        ...operation('patch', 'Change'),
        requestBody: { required: true, content: { 'application/json': { schema: values } } },
        responses: changed(parts),
      },
      delete: { ...operation('delete', 'Delete'), responses: changed(parts) },
    }),
  };
}

const CHANGES = {
  create: { method: 'post', summary: 'Append rows to, or change several rows of' },
  update: { method: 'patch', summary: 'Change rows of' },
  delete: { method: 'delete', summary: 'Delete rows of' },
} as const;

function change(
  described: DescribedResource,
  path: string,
  action: keyof typeof CHANGES,
  parts: DocumentParts,
): JsonObject {
  const { method, summary } = CHANGES[action];
  const envelope = {
    type: 'object',
    properties: { action: { const: action }, data: dataSchema(described, action) },
    required: ['action', 'data'],
  };
  const bulk = bulkModels[action].map((model) => parts.models.refer(model));
  return {
    ...common(described, method, path, `${summary} ${described.resource.canonical}`, parts),
    parameters: CHANGE_PARAMETERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { anyOf: [envelope, ...bulk] } } },
    },
    responses: changed(parts),
  };
}

function changed({ models, errors }: DocumentParts): JsonObject {
  return {
    200: {
      description: 'It stands in the file, durably',
      headers: headersNamed('ETag'),
      content: { 'application/json': { schema: models.refer(changeModel) } },
    },
    ...errors.refer([401, 403, 404, 405, 409, 412, 422]),
  };
}

function dataSchema({ rows: known }: DescribedResource, action: keyof typeof CHANGES): JsonObject {
  if (action === 'delete') {
    const properties = { _row_id: { type: 'integer', minimum: 1 } };
    return { type: 'object', properties, required: ['_row_id'], additionalProperties: false };
  }
  const withRowId = action === 'update';
  const row = known === null ? { type: 'object' } : inputSchema(known, { withRowId });
  return withRowId ? row : { type: 'array', items: row };
}

function schema(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  if (!described.mayRead) return {};
  const summary = `Read the columns of ${described.resource.canonical}`;
  return {
    get: {
      ...common(described, 'get', path, summary, parts),
      parameters: SCHEMA_PARAMETERS,
      responses: {
        200: {
          description: 'Columns and their types',
          headers: headersNamed('ETag'),
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        ...parts.errors.refer([401, 403, 404, 405, 410, 422]),
      },
    },
  };
}

function page(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  if (!described.mayRead) return {};
  return {
    get: {
      ...common(described, 'get', path, `Show ${described.resource.canonical}`, parts),
      responses: {
        200: { description: 'A page for people', content: { 'text/html': {} } },
        ...parts.errors.refer([401, 403, 404, 405, 422]),
      },
    },
  };
}

function content(described: DescribedResource, path: string, parts: DocumentParts): JsonObject {
  if (!described.mayRead) return {};
  const body = { content: { '*/*': {} } };
  return {
    get: {
      ...common(described, 'get', path, `Read ${described.resource.canonical}`, parts),
      parameters: READ_PARAMETERS,
      responses: {
        200: { description: 'The file', headers: headersNamed('ETag'), ...body },
        206: { description: 'The ranges asked for', headers: headersNamed('ETag'), ...body },
        304: { description: 'The version named by If-None-Match is the present one' },
        416: { description: 'No range of this file' },
        ...parts.errors.refer([401, 403, 404, 405]),
      },
    },
  };
}

function common(
  { resource }: DescribedResource,
  method: string,
  path: string,
  summary: string,
  parts: DocumentParts,
): JsonObject {
  return {
    summary,
    tags: [resource.type],
    operationId: parts.operationId(method, path),
    ...parts.security,
  };
}

const ROW_ID = { type: 'integer', minimum: 1, description: 'Stays with its row' };

function rowSchema({ columns, blank }: DescribedRows): JsonObject {
  const properties = columns.map((column): [string, JsonObject] => [
    column.name,
    columnSchema(column, blank === 'null' ? 'null' : column.isPure ? BLANK : 'string'),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries([['_row_id', ROW_ID], ...properties]),
    required: ['_row_id'],
  };
}

/** Omitted columns are blank in a new row and unchanged in an old one. */
export function inputSchema(
  { writableColumns }: DescribedRows,
  { withRowId }: { readonly withRowId: boolean },
): JsonObject {
  const properties = writableColumns.map((column): [string, JsonObject] => [
    column.name,
    columnSchema(column, 'string', 'null'),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...(withRowId ? [['_row_id', ROW_ID] as const] : []),
      ...properties,
    ]),
    ...(withRowId ? { required: ['_row_id'] } : {}),
    additionalProperties: false,
  };
}

/** Besides its values a column may have the empty text. */
const BLANK = '';

function columnSchema(
  { type, example, isBase64 }: DescribedColumn,
  ...besides: string[]
): JsonObject {
  const types = [...new Set([type, ...besides.filter((one) => one !== BLANK)])];
  const isBlankToo = besides.includes(BLANK) && type !== 'string';
  return {
    ...(isBlankToo
      ? { oneOf: [{ type }, { type: 'string', enum: [''] }] }
      : { type: types.length === 1 ? types[0] : types }),
    ...(isBase64 && { contentEncoding: 'base64' }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}
