import type { Principal } from '../../accounts/rights/principal.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import { AppError } from '../../base/errors.ts';
import { encodePath } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { standalonePaths } from '../../api/openapi/handler-paths.ts';
import { handlerHeaders } from '../../http/handler-exchange.ts';
import { isSafeMethod } from '../../http/route.ts';
import { mayAccess } from '../../operations/access.ts';
import { callHandler } from '../../operations/files/handlers.ts';
import { JsonText, writeJson } from '../json-text.ts';
import { isObject, type Members } from '../message.ts';
import { toolName } from '../tool-name.ts';
import { type Tool, type ToolCall, type ToolResult, tooLarge, MAX_TOOLS } from '../tool.ts';
import type { ServerServices } from '../../http/context.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** One operation of a handler, as its program describes it. */
interface Operation {
  readonly resource: Resource;
  readonly method: string;
  /** Relative to the handler: `/items/{id}`. */
  readonly path: string;
  readonly described: Members;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Members;
}

/** The operations of the handlers that the caller may call, where `mcp.handlers` is on. */
export async function handlerTools(services: ServerServices, caller: Principal): Promise<Tool[]> {
  if (!services.config.mcp.handlers) return [];
  const grants = await loadGrants(services.db, caller);
  const tools: Tool[] = [];
  for (const resource of services.registry.list()) {
    if (resource.type !== 'handler' || resource.problem !== null) continue;
    for (const operation of await operationsOf(services, resource)) {
      const verb = isSafeMethod(operation.method) ? 'read' : 'write';
      if (!mayAccess(grants, resource, verb)) continue;
      tools.push(toolOf(operation));
      if (tools.length === MAX_TOOLS) return tools;
    }
  }
  return tools;
}

async function operationsOf(services: ServerServices, resource: Resource): Promise<Operation[]> {
  const schema = await services.handlers.schema(resource.rel);
  const paths = schema === null ? {} : standalonePaths(schema);
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = isObject(item) ? item[method] : undefined;
      if (!isObject(described)) return [];
      return [{ resource, method: method.toUpperCase(), path, described }];
    }),
  );
}

function toolOf(operation: Operation): Tool {
  const { resource, method, path, described } = operation;
  const parameters = parametersOf(operation);
  const body = bodySchemaOf(described);
  const address = `/api/${resource.canonical}${path}`;
  const told = described['description'] ?? described['summary'];
  const title = `${method} ${address}`;
  const isReader = isSafeMethod(method);
  return {
    description: {
      name: toolName(['call', resource.canonical, path, method], hashOf(title)),
      title,
      description: `Calls ${title}.${typeof told === 'string' ? ` ${told}` : ''}`,
      inputSchema: {
        type: 'object',
        properties: {
          ...Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
          ...(body === null ? {} : { body }),
        } as Tool['description']['inputSchema']['properties'],
        required: [
          ...parameters.filter(({ required }) => required).map(({ name }) => name),
          ...(body === null ? [] : ['body']),
        ],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: { status: { type: 'integer' }, body: {} },
        required: ['status', 'body'],
      },
      annotations: {
        title,
        readOnlyHint: isReader,
        idempotentHint: isReader,
        openWorldHint: true,
      },
    },
    call: (call) => answered(operation, parameters, call),
  };
}

/** As a program describes them; a name for the path that it left out is a text. */
function parametersOf({ path, described }: Operation): Parameter[] {
  const listed = Array.isArray(described['parameters']) ? described['parameters'] : [];
  const known = listed.filter(isObject).flatMap((one): Parameter[] => {
    const { name, in: place, required, schema } = one;
    if (typeof name !== 'string' || (place !== 'path' && place !== 'query')) return [];
    const given = isObject(schema) ? schema : {};
    return [{ name, in: place, required: place === 'path' || required === true, schema: given }];
  });
  const missing = [...path.matchAll(/\{([^}]+)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !known.some((one) => one.in === 'path' && one.name === name));
  const texts = missing.map((name): Parameter => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return [...known, ...texts];
}

/** Null for an operation without a body in JSON. */
function bodySchemaOf({ requestBody }: Members): Members | null {
  const content = isObject(requestBody) ? requestBody['content'] : undefined;
  const json = isObject(content) ? content['application/json'] : undefined;
  if (!isObject(json)) return null;
  return isObject(json['schema']) ? json['schema'] : {};
}

async function answered(
  { resource, method, path }: Operation,
  parameters: readonly Parameter[],
  { services, caller, origin, signal, arguments: given }: ToolCall,
): Promise<ToolResult> {
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place } of parameters) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : writeJson(value);
    if (place === 'query') query.set(name, text);
    else target = target.replaceAll(`{${name}}`, encodeURIComponent(text));
  }
  const body = given['body'];
  const verb = isSafeMethod(method) ? 'read' : 'write';
  const address = { resource, nameLength: resource.canonical.split('/').length };
  const call = services.handlerCalls.begin(caller);
  try {
    const response = await callHandler(
      services,
      address,
      { caller, origin, name: resource.canonical, verb },
      (user) => {
        const prefix = `/api/${encodePath(resource.canonical)}`;
        const headers = handlerHeaders(services, user, { origin, prefix, token: call.token });
        if (body !== undefined) headers.set('content-type', 'application/json');
        return {
          ...{ rel: resource.rel, method, signal, headers },
          target: query.size === 0 ? target : `${target}?${query}`,
          body: body === undefined ? null : Buffer.from(writeJson(body)),
        };
      },
    );
    return await resultOf(response, services.config.limits.mcp_result_bytes);
  } finally {
    call.end();
  }
}

async function resultOf(response: Response, maxBytes: number): Promise<ToolResult> {
  const { status } = response;
  const text = await textOf(response, maxBytes);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (status >= 400) throw new AppError('bad-request', `The handler answered ${status}: ${text}`);
  const written = isJson && isJsonText(text) ? text : JSON.stringify(text);
  return { structured: new JsonText(`{"status":${status},"body":${written}}`) };
}

/** Throws `too-large`. */
async function textOf(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(null);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function hashOf(text: string): string {
  return Bun.hash(text).toString(36).slice(0, 6);
}
