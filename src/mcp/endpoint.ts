/**
 * Only failures of the transport (credentials, size, content types) are HTTP errors; all others are JSON-RPC errors.
 */
import type { Context } from '../http/context.ts';
import { emptyReply, type Reply } from '../http/reply/reply.ts';
import { jsonPieces } from './json-text.ts';
import { idIn, isObject, type Members, parseBody, readMessage, RpcError } from './message.ts';
import { messageReply, replyForm } from './reply-form.ts';
import { type Exchange, handlerOf } from './server.ts';

const PROTOCOL_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/** Throws `not-acceptable`, `too-large`, `bad-request`, `throttled` and `unavailable`. */
export async function answerMessage(context: Context): Promise<Reply> {
  const form = replyForm(context.request.headers.get('accept'));
  const bytes = await context.body.kept(context.maxBodyBytes);
  let body: unknown = null;
  try {
    body = await parseBody(context.parsed(bytes));
    const { status, message } = await answered(context, body);
    return message === null ? emptyReply(status) : messageReply(jsonPieces(message), form, status);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data, status } = error;
    const told = { jsonrpc: '2.0', id: idIn(body), error: { code, message, data } };
    return messageReply(jsonPieces(told), form, status);
  }
}

/** Throws RpcError. */
async function answered(
  context: Context,
  body: unknown,
): Promise<{ readonly status: number; readonly message: Members | null }> {
  const { services, caller, origin, request, requestId } = context;
  const { signal } = request;
  const { id, arguments: given, plain } = readMessage(body, request.headers);
  const exchange: Exchange = {
    ...{ services, caller, origin, signal, arguments: given, result: {} },
    onBug: (error) => services.log.error('an MCP request failed', { id: requestId, error }),
  };
  const response = await handlerOf(exchange).fetch(requestFor(request), { parsedBody: plain });
  const text = await response.text();
  signal.throwIfAborted();
  if (text === '') return { status: response.status, message: null };
  const message = JSON.parse(text.replace(/^event: message\ndata: /, '')) as Members;
  const answer = isObject(message['result'])
    ? { result: { ...message['result'], ...exchange.result } }
    : { error: message['error'] };
  return { status: response.status, message: { jsonrpc: '2.0', id, ...answer } };
}

/** The package accepts nothing but both types; which one is sent is decided here. */
function requestFor({ headers, signal }: Request): Request {
  const sent: Record<string, string> = {
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  };
  for (const name of PROTOCOL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) sent[name] = value;
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers: sent, signal });
}
