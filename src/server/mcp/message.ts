/**
 * JSON-RPC 2.0 messages as MCP restricts them: one object a request, ids that are strings or integers, parameters that are
 * objects (DS-173). Whatever else comes in is told with a code, never with a status of 500.
 */
import { AppError } from '../../base/errors.ts';
import { JsonNumber } from '../../base/json.ts';
import { parseJsonBody } from '../json-body.ts';

/** Largest message, in bytes (DS-173); `limits.max_body_bytes` holds too. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** What identifies a request in its answer; null where it could not be read. */
export type MessageId = string | number | bigint | null;
/** Members of an object from outside. */
export type Members = Readonly<Record<string, unknown>>;

/** A message of a client. */
export type Message =
  | {
      readonly kind: 'request';
      readonly id: MessageId;
      readonly method: string;
      readonly params: Members;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Members }
  | { readonly kind: 'response' };

/** Codes of JSON-RPC and of MCP. */
export const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

/** A failure that is answered as a JSON-RPC error. */
export class RpcError extends Error {
  /** `status`: of the HTTP answer. `data`: for the client, as it is. */
  constructor(
    readonly code: number,
    message: string,
    readonly status: number = 200,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** Parameters of a request that are wrong; the request itself is well-formed. */
export function invalidParams(message: string): RpcError {
  return new RpcError(CODES.invalidParams, message);
}

/** The value of a body. Throws RpcError −32700 for what is no JSON and −32600 for an array. */
export async function parseBody(bytes: Uint8Array): Promise<unknown> {
  let body: unknown;
  try {
    body = await parseJsonBody(bytes);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-request') throw error;
    throw new RpcError(CODES.parseError, `Parse error: ${error.message}`, 400);
  }
  if (!Array.isArray(body)) return body;
  throw new RpcError(CODES.invalidRequest, 'Invalid Request: send one message, not a batch', 400);
}

/** The message a parsed body is. Throws RpcError −32600. */
export function readMessage(body: unknown): Message {
  if (!isObject(body)) throw invalidRequest('expected a JSON object');
  if (body['jsonrpc'] !== '2.0') throw invalidRequest('jsonrpc must be "2.0"');
  const { method, params = {} } = body;
  if (method === undefined && ('result' in body || 'error' in body)) return { kind: 'response' };
  if (typeof method !== 'string') throw invalidRequest('method must be a string');
  if (!isObject(params)) throw invalidRequest('params must be an object');
  if (!('id' in body)) return { kind: 'notification', method, params };
  const id = idOf(body['id']);
  if (id === null) throw invalidRequest('id must be a string or an integer');
  return { kind: 'request', id, method, params };
}

/** The id of what may be a message; null for none that could be repeated in an answer. */
export function idIn(body: unknown): MessageId {
  return isObject(body) ? idOf(body['id']) : null;
}

/** Whether a parsed JSON value is an object. */
export function isObject(value: unknown): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

function idOf(id: unknown): MessageId {
  if (typeof id === 'string' || typeof id === 'bigint') return id;
  const number = id instanceof JsonNumber ? id.value : id;
  return typeof number === 'number' && Number.isInteger(number) ? number : null;
}

function invalidRequest(reason: string): RpcError {
  return new RpcError(CODES.invalidRequest, `Invalid Request: ${reason}`, 400);
}
