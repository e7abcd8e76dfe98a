/**
 * Messages of MCP over plain HTTP, as both eras write them.
 */
import type { Client } from '../support/service.ts';

/** A JSON-RPC answer. */
export interface Answer {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** What a tool call gives. */
interface ToolAnswer {
  readonly content: readonly {
    readonly type: string;
    readonly text: string;
    readonly uri?: string;
  }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

/** Sends a body; a text goes out as it is. */
export function post(
  client: Client,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return client.fetch('/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** What `initialize` must say. */
export const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

/** A request of the handshake era. */
export function request(method: string, params?: object, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) };
}

/** The result of a request; throws for an error. */
export async function ask(
  client: Client,
  method: string,
  params?: object,
): Promise<Record<string, unknown>> {
  const answer = (await (await post(client, request(method, params))).json()) as Answer;
  if (answer.result === undefined) throw new Error(JSON.stringify(answer));
  return answer.result;
}

/** Calls a tool. */
export async function call(client: Client, name: string, given?: object): Promise<ToolAnswer> {
  const params = { name, ...(given !== undefined && { arguments: given }) };
  return (await ask(client, 'tools/call', params)) as unknown as ToolAnswer;
}

/** The text a failing tool call gives; throws when it succeeds. */
export async function failure(client: Client, name: string, given?: object): Promise<string> {
  const { isError, content } = await call(client, name, given);
  if (isError !== true) throw new Error(`${name} succeeded: ${JSON.stringify(content)}`);
  return content.map(({ text }) => text).join('\n');
}

/** A request of the stateless era and the headers it needs. */
export function stateless(
  method: string,
  params: Record<string, unknown> = {},
): { readonly body: Record<string, unknown>; readonly headers: Record<string, string> } {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params['name'] ?? params['uri'];
  return {
    body: { jsonrpc: '2.0', id: 'a', method, params: { ...params, _meta: meta } },
    headers: {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(typeof name === 'string' && { 'Mcp-Name': name }),
    },
  };
}
