/**
 * How a JSON-RPC answer goes out: as JSON, or as an event stream of one event (DS-174).
 */
import { AppError } from '../../base/errors.ts';
import { bodyReply, type Reply } from '../reply.ts';

/** The two forms. */
export type ReplyForm = 'json' | 'events';

const RANGES: Readonly<Record<ReplyForm, readonly string[]>> = {
  json: ['application/json', 'application/*', '*/*'],
  events: ['text/event-stream', 'text/*', '*/*'],
};

/** The form an `Accept` admits, JSON where it may choose. Throws `not-acceptable`. */
export function replyForm(accept: string | null): ReplyForm {
  if (accept === null || accept.trim() === '') return 'json';
  for (const form of ['json', 'events'] as const) if (isAdmitted(accept, RANGES[form])) return form;
  throw new AppError('not-acceptable', 'Accept must admit application/json or text/event-stream');
}

/** The most specific range that names the type decides (RFC 9110, 12.5.1). */
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

/** An answer with a message as JSON text. */
export function messageReply(json: string, form: ReplyForm, status: number): Reply {
  if (form === 'json') return bodyReply(json, 'application/json', { status });
  // Line breaks outside of strings end a line of the stream; inside of them JSON has none.
  const data = json.replace(/[\r\n]+/g, ' ');
  return bodyReply(`event: message\ndata: ${data}\n\n`, 'text/event-stream', {
    status,
    headers: { 'X-Accel-Buffering': 'no' },
  });
}
