/**
 * Clients of the handshake era begin with `initialize`; those of the stateless era send their identity and version
 * with every request. The official MCP package cannot be used for either: it refuses an `Accept` with one type, takes
 * batches and does not know 2026-07-28.
 */
import { CODES, isObject, type Members, type Message, RpcError } from './message.ts';

/** Newest first. */
const HANDSHAKE_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
const STATELESS_VERSION = '2026-07-28';
/** Newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS];

export type Era = 'handshake' | 'stateless';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
/** Member of `params` that the header `Mcp-Name` repeats, by method. Only the first must be present. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
]);

/** Throws RpcError when the headers contradict the body, or the version is unknown. */
export function eraOf(message: Message, headers: Headers): Era {
  const named = trimmed(headers.get('mcp-protocol-version'));
  if (message.kind === 'response') return requireHandshakeVersion(named);
  const meta = isObject(message.params['_meta']) ? message.params['_meta'] : {};
  const isModern = VERSION_KEY in meta || named === STATELESS_VERSION;
  if (message.method === 'initialize' || !isModern) return requireHandshakeVersion(named);
  checkVersion(meta, named);
  if (message.kind === 'request') checkRequest(message, meta, headers);
  return 'stateless';
}

/** The client's version, or our newest when we do not know it. */
export function agreedVersion(requested: unknown): string {
  return HANDSHAKE_VERSIONS.find((version) => version === requested) ?? HANDSHAKE_VERSIONS[0]!;
}

function requireHandshakeVersion(named: string | null): Era {
  if (named === null || HANDSHAKE_VERSIONS.includes(named)) return 'handshake';
  throw unsupportedVersion(named);
}

function checkVersion(meta: Members, named: string | null): void {
  const claimed = meta[VERSION_KEY];
  if (typeof claimed !== 'string') throw missingMeta(VERSION_KEY);
  if (named !== null && named !== claimed) throw mismatch('MCP-Protocol-Version');
  if (claimed !== STATELESS_VERSION) throw unsupportedVersion(claimed);
}

function checkRequest(
  { method, params }: Extract<Message, { kind: 'request' }>,
  meta: Members,
  headers: Headers,
): void {
  if (headers.get('mcp-protocol-version') === null) throw absent('MCP-Protocol-Version');
  const namedMethod = trimmed(headers.get('mcp-method'));
  if (namedMethod === null) throw absent('Mcp-Method');
  if (decoded(namedMethod) !== method) throw mismatch('Mcp-Method');
  checkName(method, params, trimmed(headers.get('mcp-name')));
  if (!isObject(meta[CAPABILITIES_KEY])) throw missingMeta(CAPABILITIES_KEY);
}

function checkName(method: string, params: Members, header: string | null): void {
  const member = NAMED_BY.get(method);
  if (member === undefined) return;
  if (header === null) {
    if (method === 'tools/call') throw absent('Mcp-Name');
    return;
  }
  const name = params[member];
  // A name that is not text is refused later, as a parameter.
  if (typeof name === 'string' && decoded(header) !== name) throw mismatch('Mcp-Name');
}

/** The value may be wrapped as `=?base64?…?=` (UTF-8); null when the wrapping is invalid. */
function decoded(value: string): string | null {
  const wrapped = /^=\?base64\?(.*)\?=$/i.exec(value)?.[1];
  if (wrapped === undefined) return value;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(wrapped))
    return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(wrapped, 'base64'));
  } catch {
    return null;
  }
}

function trimmed(value: string | null): string | null {
  return value === null ? null : value.trim();
}

function unsupportedVersion(requested: string): RpcError {
  const data = { supported: SUPPORTED_VERSIONS, requested };
  return new RpcError(CODES.unsupportedVersion, 'Unsupported protocol version', 400, data);
}

function missingMeta(key: string): RpcError {
  return new RpcError(CODES.invalidParams, `Invalid params: _meta["${key}"] is missing`, 400);
}

function absent(header: string): RpcError {
  return new RpcError(CODES.headerMismatch, `The header ${header} is missing`, 400);
}

function mismatch(header: string): RpcError {
  return new RpcError(CODES.headerMismatch, `The header ${header} differs from the body`, 400);
}
