/**
 * One message in, one answer out: from the bytes of a request to its reply (DS-173 to DS-175).
 *
 * Whatever a client sends is answered in the words of the protocol; only failures of the transport itself (credentials, size,
 * types) are answers of HTTP.
 */
import type { Context } from '../context.ts';
import { emptyReply, type Reply } from '../reply.ts';
import { eraOf } from './era.ts';
import { jsonPieces } from './json-text.ts';
import {
  CODES,
  idIn,
  MAX_MESSAGE_BYTES,
  type MessageId,
  parseBody,
  readMessage,
  RpcError,
} from './message.ts';
import { answerRequest } from './methods.ts';
import { messageReply, type ReplyForm, replyForm } from './reply-form.ts';
import { failureText } from './tool.ts';

/** Answers the message of a request that was let in. Throws `not-acceptable`, `too-large` and `bad-request`. */
export async function answerMessage(context: Context): Promise<Reply> {
  const form = replyForm(context.request.headers.get('accept'));
  const { max_body_bytes: maxBytes } = context.services.config.limits;
  const bytes = await context.body.bytes(Math.min(maxBytes, MAX_MESSAGE_BYTES));
  let id: MessageId = null;
  try {
    const body = await parseBody(bytes);
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
  // Nobody reads the answer to a call that was given up.
  if (reason === null && !context.request.signal.aborted) logBug(context, 'message', error);
  return new RpcError(CODES.internalError, reason ?? 'Internal error');
}

function logBug({ services, requestId: id }: Context, method: string, error: unknown): void {
  services.log.error('an MCP request failed', { id, method: method.slice(0, 100), error });
}
