/**
 * Only failures of the transport (credentials, size, content types) are HTTP errors; all others are JSON-RPC errors.
 */
import type { Context } from '../http/context.ts';
import { emptyReply, type Reply, bodyReply } from '../http/reply/reply.ts';
import { jsonPieces } from './json-text.ts';
import { idIn, isObject, type Members, parseBody, readMessage, RpcError } from './message.ts';
import { type Exchange, handlerOf } from './server.ts';
import { AppError } from '../base/errors.ts';
import { TimeSlice } from '../base/scheduling/time-slice.ts';

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

type ReplyForm = 'json' | 'events';

const WHOLE_CHARACTERS = 256 * 1024;
const CHUNK_CHARACTERS = 64 * 1024;

const RANGES: Readonly<Record<ReplyForm, readonly string[]>> = {
  json: ['application/json', 'application/*', '*/*'],
  events: ['text/event-stream', 'text/*', '*/*'],
};

/** JSON where the `Accept` allows both. Throws `not-acceptable`. */
function replyForm(accept: string | null): ReplyForm {
  if (accept === null || accept.trim() === '') return 'json';
  for (const form of ['json', 'events'] as const) if (isAdmitted(accept, RANGES[form])) return form;
  throw new AppError('not-acceptable', 'Accept must admit application/json or text/event-stream');
}

/** The most specific range that matches the type decides (RFC 9110, 12.5.1). */
function isAdmitted(accept: string, ranges: readonly string[]): boolean {
  const entries = accept.split(',').map((entry) => {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    return { range, isRefused: weight !== undefined && Number(weight.split('=')[1]) === 0 };
  });
  for (const range of ranges) {
    const entry = entries.find((one) => one.range === range);
    if (entry !== undefined) return !entry.isRefused;
  }
  return false;
}

function messageReply(json: readonly string[], form: ReplyForm, status: number): Reply {
  if (form === 'json') return bodyReply(bodyOf(json), 'application/json', { status });
  const event = ['event: message\ndata: ', ...json.map(onOneLine), '\n\n'];
  return bodyReply(bodyOf(event), 'text/event-stream', {
    status,
    headers: { 'X-Accel-Buffering': 'no' },
  });
}

/** A line break would end the line of the stream; JSON has them only outside of strings. */
function onOneLine(piece: string): string {
  return /[\r\n]/.test(piece) ? piece.replace(/[\r\n]+/g, ' ') : piece;
}

function bodyOf(pieces: readonly string[]): string | AsyncIterable<string> {
  let characters = 0;
  for (const { length } of pieces) characters += length;
  return characters <= WHOLE_CHARACTERS ? pieces.join('') : chunks(pieces);
}

async function* chunks(pieces: readonly string[]): AsyncGenerator<string> {
  const slice = new TimeSlice();
  let chunk: string[] = [];
  let characters = 0;
  for (const piece of pieces) {
    chunk.push(piece);
    characters += piece.length;
    if (characters < CHUNK_CHARACTERS) continue;
    yield chunk.join('');
    chunk = [];
    characters = 0;
    if (slice.isOver) await slice.rest();
  }
  if (chunk.length > 0) yield chunk.join('');
}
