/**
 * What is checked before the protocol package sees a message: it answers a validator's dump to missing members, rounds ids, and takes
 * batches, and its subscriptions would hold a connection for anybody.
 */
import { ProtocolError, specTypeSchemas } from '@modelcontextprotocol/server';
import { AppError } from '../base/errors.ts';
import { JsonNumber } from '../base/json/json.ts';
import { writeJson } from './json-text.ts';

/** Newest first. */
export const HANDSHAKE_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
const STATELESS_VERSION = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Null where it could not be read. */
type MessageId = string | number | bigint | null;
export type Members = Readonly<Record<string, unknown>>;

export interface Message {
  /** As sent, with all digits; null for a notification or an answer of the client. */
  readonly id: MessageId;
  /** As sent, with all digits. */
  readonly arguments: Members;
  /** For the package: numbers are doubles, the id is 0 and the arguments of a tool are left out. */
  readonly plain: unknown;
}

export const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  unsupportedVersion: -32022,
} as const;

export class RpcError extends Error {
  /** `status` of the HTTP answer; `data` is sent to the client unchanged. */
  constructor(
    readonly code: number,
    message: string,
    readonly status: number = 200,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(CODES.invalidParams, message);
}

type Schema = (typeof specTypeSchemas)[keyof typeof specTypeSchemas];

const PARAMS = new Map<string, Schema>([
  ['tools/list', specTypeSchemas.PaginatedRequestParams],
  ['tools/call', specTypeSchemas.CallToolRequestParams],
  ['resources/list', specTypeSchemas.PaginatedRequestParams],
  ['resources/templates/list', specTypeSchemas.PaginatedRequestParams],
  ['resources/read', specTypeSchemas.ReadResourceRequestParams],
  ['prompts/list', specTypeSchemas.PaginatedRequestParams],
]);

/** Unknown in the stateless era. */
const HANDSHAKE_PARAMS = new Map<string, Schema>([
  ['initialize', specTypeSchemas.InitializeRequestParams],
  ['ping', specTypeSchemas.PaginatedRequestParams],
]);

/** Throws RpcError −32700 for invalid JSON and −32600 for an array (a batch). */
export async function parseBody(parsed: Promise<unknown>): Promise<unknown> {
  let body: unknown;
  try {
    body = await parsed;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-request') throw error;
    throw new RpcError(CODES.parseError, `Parse error: ${error.message}`, 400);
  }
  if (!Array.isArray(body)) return body;
  throw new RpcError(CODES.invalidRequest, 'Invalid Request: send one message, not a batch', 400);
}

/** Throws RpcError. */
export function readMessage(body: unknown, headers: Headers): Message {
  if (!isObject(body)) throw invalidRequest('expected a JSON object');
  if (body['jsonrpc'] !== '2.0') throw invalidRequest('jsonrpc must be "2.0"');
  const { method, params = {} } = body;
  if (method === undefined && ('result' in body || 'error' in body)) {
    return { id: null, arguments: {}, plain: { jsonrpc: '2.0', id: 0, result: {} } };
  }
  if (typeof method !== 'string') throw invalidRequest('method must be a string');
  if (!isObject(params)) throw invalidRequest('params must be an object');
  const { arguments: given, ...others } = params;
  const known = isObject(given) ? { ...others, arguments: {} } : params;
  const message = { jsonrpc: '2.0', method, params: JSON.parse(writeJson(known)) as Members };
  if (!('id' in body)) return { id: null, arguments: {}, plain: message };
  const id = idIn(body);
  if (id === null) throw invalidRequest('id must be a string or an integer');
  requireParams(message, isStateless(params, headers));
  return { id, arguments: isObject(given) ? given : {}, plain: { ...message, id: 0 } };
}

/** Null for an id that could not be repeated in an answer. */
export function idIn(body: unknown): MessageId {
  if (!isObject(body)) return null;
  const { id } = body;
  if (typeof id === 'string' || typeof id === 'bigint') return id;
  const number = id instanceof JsonNumber ? id.value : id;
  return typeof number === 'number' && Number.isInteger(number) ? number : null;
}

export function isObject(value: unknown): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Throws RpcError −32022; versions in `_meta` are the package's to check. */
function isStateless({ _meta: meta }: Members, headers: Headers): boolean {
  if (isObject(meta) && VERSION_KEY in meta) return true;
  const requested = headers.get('mcp-protocol-version')?.trim();
  if (requested === STATELESS_VERSION) return true;
  if (requested === undefined || HANDSHAKE_VERSIONS.includes(requested)) return false;
  const data = { supported: [STATELESS_VERSION, ...HANDSHAKE_VERSIONS], requested };
  throw new RpcError(CODES.unsupportedVersion, 'Unsupported protocol version', 400, data);
}

function requireParams(
  { method, params }: { readonly method: string; readonly params: Members },
  isInStatelessEra: boolean,
): void {
  if (method === 'subscriptions/listen') {
    throw new RpcError(CODES.methodNotFound, 'Method not found', isInStatelessEra ? 404 : 200);
  }
  const schema =
    PARAMS.get(method) ?? (isInStatelessEra ? undefined : HANDSHAKE_PARAMS.get(method));
  const checked = schema?.['~standard'].validate(params);
  if (checked === undefined || checked instanceof Promise) return;
  const issue = checked.issues?.[0];
  if (issue === undefined) return;
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
  const reason = issue.message.replace(/^Invalid input: /, '');
  const text = `Invalid params: ${path.map(String).join('.')}: ${reason}`;
  throw new RpcError(CODES.invalidParams, text, isInStatelessEra ? 400 : 200);
}

function invalidRequest(reason: string): RpcError {
  return new RpcError(CODES.invalidRequest, `Invalid Request: ${reason}`, 400);
}
