/**
 * `POST /journald/upload`, which systemd-journal-upload finds under `URL=https://…:443/journald`.
 *
 * The first upload of a machine is its whole journal, so a body has no limit: it is stored in parts while it comes in. After a
 * failure the client begins again behind the last upload that was answered.
 */
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { exportEntryEnd } from '../../events/intake/wire/journal.ts';
import { inflated, isKnownCoding } from '../../http/body/content-coding.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { bodyReply, type Reply } from '../../http/reply/reply.ts';
import { readOnlyMode } from '../../http/route.ts';
import { admitIntake, ingestEvents } from '../../operations/events/events.ts';
import { type DialectAdapter, dialectRoute } from './dialect.ts';

const MEDIA_TYPE = 'application/vnd.fdo.journal';
const PART_BYTES = 1024 * 1024;
/** A longer entry, such as one with a core dump, is left out. */
const MAX_ENTRY_BYTES = 16 * 1024 * 1024;
const PLAIN = 'text/plain; charset=utf-8';

const adapter: DialectAdapter = {
  dialect: 'journald',
  mode: () => '',
  mark: '__REALTIME_TIMESTAMP',
  failure: ({ status, headers, message }) =>
    bodyReply(Buffer.from(`${message}\n`), PLAIN, { status, headers }),
  failureBodies: [{ mediaType: 'text/plain', schema: null }],
};

export const journaldRoute = new Elysia({ name: 'journald' }).use(lifecycle).post(
  '/journald/upload',
  ({ ask }) => upload(ask),
  dialectRoute(adapter, {
    summary: 'Send entries as systemd-journal-upload',
    tag: 'events',
    body: [{ mediaType: MEDIA_TYPE, schema: null }],
    answers: {
      202: { description: 'The entries are stored', mediaType: 'text/plain', schema: null },
    },
  }),
);

async function upload(context: Context): Promise<Reply> {
  const { services, user, origin, body } = context;
  const { dialect } = adapter;
  await admitIntake(services, user, origin, dialect);
  if (services.config.readonly) throw readOnlyMode();
  if (body.mediaType !== MEDIA_TYPE)
    throw new AppError(
      'unsupported-media-type',
      `Unsupported media type "${body.mediaType}" in request.`,
    );
  const isDryRun = context.queryValue('dry_run') === '1';
  let entries = 0;
  for await (const part of parts(bytesOf(context))) {
    const written = await ingestEvents(services, user, origin, {
      dialect,
      mode: '',
      mediaType: MEDIA_TYPE,
      parameters: Object.fromEntries(context.query),
      headers: {},
      body: part.bytes,
      events: part.entries,
      isDryRun,
      isMinimal: false,
      idempotency: null,
    });
    if (written.status >= 300)
      throw new AppError(
        written.status === 403 ? 'permission-denied' : 'bad-request',
        await new Response(written.body).text(),
      );
    entries += part.entries;
  }
  if (entries === 0) throw new AppError('bad-request', 'The body holds no entry of a journal');
  return bodyReply(Buffer.from('OK.\n'), PLAIN, { status: 202 });
}

function bytesOf({ body, request }: Context): AsyncIterable<Uint8Array> {
  const coding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  const stream = body.stream(Number.MAX_SAFE_INTEGER);
  if (coding === 'identity' || coding === '') return stream;
  if (!isKnownCoding(coding))
    throw new AppError('unsupported-media-type', `Unsupported media type "${coding}" in request.`);
  return inflated(stream, coding);
}

interface Part {
  readonly bytes: Uint8Array;
  readonly entries: number;
}

/** Whole entries, about as many as are stored together. */
async function* parts(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let rest: Buffer = Buffer.alloc(0);
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    // The reader reuses its buffer.
    waiting.push(new Uint8Array(piece));
    size += piece.length;
    if (size < PART_BYTES) continue;
    const bytes = Buffer.concat([rest, ...waiting]);
    [waiting, size] = [[], 0];
    const { end, entries } = wholeEntries(bytes);
    if (entries > 0) yield { bytes: bytes.subarray(0, end), entries };
    rest = Buffer.from(bytes.subarray(end));
    if (rest.length > MAX_ENTRY_BYTES)
      throw new AppError('too-large', `An entry has more than ${MAX_ENTRY_BYTES} bytes`);
  }
  const bytes = Buffer.concat([rest, ...waiting]);
  if (bytes.length === 0) return;
  // The last entry may lack the blank line that ends it.
  const { end, entries } = wholeEntries(bytes);
  yield { bytes, entries: entries + (end < bytes.length ? 1 : 0) };
}

function wholeEntries(bytes: Buffer): { readonly end: number; readonly entries: number } {
  let [end, entries] = [0, 0];
  for (let next = exportEntryEnd(bytes, 0); next > 0; next = exportEntryEnd(bytes, end)) {
    if (next - end > 1) entries += 1;
    end = next;
  }
  return { end, entries };
}
