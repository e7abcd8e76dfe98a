/**
 * JSON-RPC 2.0 as MCP restricts it: one object per request, ids that are strings or integers, parameters that are
 * objects. Anything else gets an error code, never status 500.
 */
import { AppError } from '../base/errors.ts';
import { JsonNumber } from '../base/json/json.ts';

/** Bytes; `limits.max_body_bytes` applies too. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Null where it could not be read. */
export type MessageId = string | number | bigint | null;
export type Members = Readonly<Record<string, unknown>>;

export type Message =
  | {
      readonly kind: 'request';
      readonly id: MessageId;
      readonly method: string;
      readonly params: Members;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Members }
  | { readonly kind: 'response' };

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

export function invalidParams(message: string): RpcError {
  return new RpcError(CODES.invalidParams, message);
}

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

/** Throws RpcError −32600. */
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

/** Null for an id that could not be repeated in an answer. */
export function idIn(body: unknown): MessageId {
  return isObject(body) ? idOf(body['id']) : null;
}

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
