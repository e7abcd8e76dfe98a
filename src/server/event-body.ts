/**
 * Bodies of accepting routes: as received, decompressed with a limit, and what kind of body it is (EV-6, EV-7, EV-53).
 *
 * Decompression runs beside the event loop and stops at its limit, so a bomb costs no more than the limit.
 */
import { gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { AppError } from '../base/errors.ts';
import type { Context } from './context.ts';

/** A body with events. */
export interface EventBody {
  readonly bytes: Uint8Array;
  /** `json`, NDJSON lines, or a form as JSON text. */
  readonly form: 'json' | 'lines' | 'fields';
}

/** How an accepting route takes a body; the limits of events unless it says otherwise. */
export interface BodyRules {
  readonly takesLines: boolean;
  /** Names of a form whose values gather. */
  readonly lists?: readonly string[];
  /** Of the body as received and once it is decompressed. */
  readonly maxBytes?: number;
}

type Decompress = (
  bytes: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void;

const CODINGS: Readonly<Record<string, Decompress>> = {
  gzip: gunzip as Decompress,
  'x-gzip': gunzip as Decompress,
  deflate: ((bytes, options, done) =>
    // Some clients send the bare stream, without the zlib wrapping the name stands for.
    inflate(bytes, options, (error, result) =>
      error !== null && (error as { code?: string }).code === 'Z_DATA_ERROR'
        ? inflateRaw(bytes, options, done)
        : done(error, result),
    )) as Decompress,
  zstd: zstdDecompress as Decompress,
};
const LINES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
]);

/**
 * The bytes of the body without its content encoding. Throws `too-large` (`Request body too large`, `Decompressed body too
 * large`), `unsupported-media-type` for an unknown encoding, `bad-request` for a damaged one. `ownCoding`: one that the reader of
 * the body undoes itself. `mostBytes`: a lower limit for both forms of the body.
 */
export async function decodedBody(
  context: Context,
  {
    ownCoding,
    mostBytes = Number.POSITIVE_INFINITY,
  }: { ownCoding?: string; mostBytes?: number } = {},
): Promise<Uint8Array> {
  const { limits } = context.services.config.events;
  const maxBytes = Math.min(limits.max_body_bytes, mostBytes);
  const maxDecoded = Math.min(limits.max_decoded_bytes, mostBytes);
  const coding = (context.request.headers.get('content-encoding') ?? 'identity')
    .trim()
    .toLowerCase();
  const isPlain = coding === 'identity' || coding === '' || coding === ownCoding;
  const decompress = isPlain ? null : CODINGS[coding];
  if (decompress === undefined) throw unsupported(coding);
  const bytes = await context.body.bytes(maxBytes);
  if (decompress === null) return bytes;
  return new Promise((resolve, reject) => {
    decompress(bytes, { maxOutputLength: maxDecoded }, (error, result) => {
      if (error === null || error === undefined) resolve(result);
      else if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
        reject(new AppError('too-large', 'Decompressed body too large', { cause: error }));
      } else
        reject(
          new AppError('bad-request', `The request body is no valid ${coding}`, { cause: error }),
        );
    });
  });
}

/** The body of `POST /api/events/` and of updates. Throws as `decodedBody`, and `unsupported-media-type`. */
export async function eventBody(context: Context, rules: BodyRules): Promise<EventBody> {
  const { mediaType } = context.body;
  const decoded = (): Promise<Uint8Array> =>
    decodedBody(context, rules.maxBytes === undefined ? {} : { mostBytes: rules.maxBytes });
  if (mediaType === '' || mediaType === 'application/json' || mediaType.endsWith('+json')) {
    return { bytes: await decoded(), form: 'json' };
  }
  if (rules.takesLines && LINES.has(mediaType)) return { bytes: await decoded(), form: 'lines' };
  if (mediaType === 'application/x-www-form-urlencoded') {
    const bytes = await decoded();
    // curl -d says so of everything.
    if (/^\s*[[{]/.test(Buffer.from(bytes.subarray(0, 256)).toString('latin1')))
      return { bytes, form: 'json' };
    return asFields(new URLSearchParams(Buffer.from(bytes).toString()), rules.lists);
  }
  if (mediaType === 'multipart/form-data') {
    const fields = await context.form();
    return asFields(fields ?? new Map());
  }
  throw unsupported(mediaType);
}

/** Names in `lists` gather their values, of others the last counts. */
function asFields(
  fields: Iterable<readonly [string, string]>,
  lists: readonly string[] = [],
): EventBody {
  const members: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    const gathered = members[name];
    if (!lists.includes(name)) members[name] = value;
    else if (Array.isArray(gathered)) gathered.push(value);
    else members[name] = [value];
  }
  return { bytes: Buffer.from(JSON.stringify(members)), form: 'fields' };
}

function unsupported(type: string): AppError {
  return new AppError('unsupported-media-type', `Unsupported media type "${type}" in request.`);
}

/** How many events a body holds, about: exact for lines, at least 1, at most `most`. */
export function estimatedEvents({ bytes, form }: EventBody, most: number): number {
  return countedMarks(bytes, form === 'lines' ? '\n' : '"data"', most);
}

/** How often a mark stands in a body, at least 1, at most `most`: what holds more is refused anyway. */
export function countedMarks(bytes: Uint8Array, mark: string, most: number): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(mark); at >= 0 && count < most; at = buffer.indexOf(mark, at + 1))
    count += 1;
  return Math.max(1, count);
}
