import { AppError } from '../base/errors.ts';
import { TimeSlice } from '../base/scheduling/time-slice.ts';
import { bodyReply, type Reply } from '../http/reply/reply.ts';

export type ReplyForm = 'json' | 'events';

const WHOLE_CHARACTERS = 256 * 1024;
const CHUNK_CHARACTERS = 64 * 1024;

const RANGES: Readonly<Record<ReplyForm, readonly string[]>> = {
  json: ['application/json', 'application/*', '*/*'],
  events: ['text/event-stream', 'text/*', '*/*'],
};

/** JSON where the `Accept` allows both. Throws `not-acceptable`. */
export function replyForm(accept: string | null): ReplyForm {
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

export function messageReply(json: readonly string[], form: ReplyForm, status: number): Reply {
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
