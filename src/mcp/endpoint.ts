/**
 * Only failures of the transport (credentials, size, content types) are HTTP errors; all others are JSON-RPC errors.
 */
import type { Context } from '../http/context.ts';
import { emptyReply, type Reply } from '../http/reply/reply.ts';
import { eraOf } from './era.ts';
import { jsonPieces } from './json-text.ts';
import { CODES, idIn, type MessageId, parseBody, readMessage, RpcError } from './message.ts';
import { answerRequest } from './methods.ts';
import { messageReply, type ReplyForm, replyForm } from './reply-form.ts';
import { failureText } from './tool.ts';

/** Throws `not-acceptable`, `too-large`, `bad-request`, `throttled` and `unavailable`. */
export async function answerMessage(context: Context): Promise<Reply> {
  const form = replyForm(context.request.headers.get('accept'));
  const bytes = await context.body.kept(context.maxBodyBytes);
  let id: MessageId = null;
  let isParsed = false;
  try {
    const body = await parseBody(context.parsed(bytes));
    isParsed = true;
    id = idIn(body);
    const message = readMessage(body);
    const era = eraOf(message, context.request.headers);
    if (message.kind !== 'request') return emptyReply(202);
    const { services, caller, origin, request } = context;
    const { signal } = request;
    const onBug = (error: unknown): void => logBug(context, message.method, error);
    const result = await answerRequest({ services, caller, origin, era, signal, onBug }, message);
    return messageReply(jsonPieces({ jsonrpc: '2.0', id, result }), form, 200);
  } catch (error) {
    // No memory for the body: a failure of the transport.
    if (!isParsed && !(error instanceof RpcError)) throw error;
    return errorAnswer(context, error, id, form);
  }
}

function errorAnswer(context: Context, error: unknown, id: MessageId, form: ReplyForm): Reply {
  const told = error instanceof RpcError ? error : untold(context, error);
  const { code, message, data } = told;
  const body = {
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data !== undefined && { data }) },
  };
  return messageReply(jsonPieces(body), form, told.status);
}

function untold(context: Context, error: unknown): RpcError {
  const reason = failureText(error);
  // The client of an aborted call reads no answer.
  if (reason === null && !context.request.signal.aborted) logBug(context, 'message', error);
  return new RpcError(CODES.internalError, reason ?? 'Internal error');
}

function logBug({ services, requestId: id }: Context, method: string, error: unknown): void {
  services.log.error('an MCP request failed', { id, method: method.slice(0, 100), error });
}
