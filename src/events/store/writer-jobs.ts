import { join } from 'node:path';
import { SQLiteError } from 'bun:sqlite';
import { AppError, errnoOf } from '../../base/errors.ts';
import { countGarbage } from '../../base/scheduling/garbage-collection.ts';
import { isDamage } from '../../base/sqlite-damage.ts';
import { dialects } from '../intake/dialects/index.ts';
import { EVENTS_FILE } from './schema.ts';
import { EventStore } from './store.ts';
import { Writer } from './writer.ts';
import type { WriterOrder, WriterSettings } from './writer-orders.ts';
import { frame, lengthOf, unframe } from './writer-orders.ts';

interface OpenOrder {
  readonly stateDir: string;
  readonly settings: WriterSettings;
}

export const NOT_WRITABLE = 'Event storage is not writable.';
const RETRY_SECONDS = '5';
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

type Job = (body: unknown) => Response;

/** State lasts as long as the process. */
export function writerJobs(): Record<string, Job> {
  let store: EventStore | null = null;
  let writer: Writer | null = null;
  const done = (): Response => new Response(null, { status: 204 });
  return {
    open: (body) => {
      const { stateDir, settings } = body as OpenOrder;
      if (store === null) {
        store = new EventStore(join(stateDir, EVENTS_FILE));
        store.sealed.recover(nowMicros());
      }
      writer = new Writer({
        store,
        dialects,
        settings,
        now: nowMicros,
        // The server made it. A folder made here would be in the place of a state that was moved away.
        folder: join(stateDir, 'tmp'),
      });
      return done();
    },
    configure: (body) => {
      writer?.configure(body as WriterSettings);
      return done();
    },
    run: (body) => {
      if (writer === null) throw new Error('The writer was not opened');
      try {
        const batch = unframe<WriterOrder>(body as Uint8Array);
        const results = frame(writer.run(batch));
        countGarbage(lengthOf(batch.map((one) => one.body)));
        // With a length it is sent in one piece.
        const headers = { 'Content-Length': String(results.length) };
        return new Response(results as Bun.BodyInit, { headers });
      } catch (error) {
        throw translated(error);
      }
    },
    close: () => {
      store?.close();
      store = null;
      writer = null;
      return done();
    },
  };
}

/** Microseconds: the system clock with the fraction of the monotonic one. */
function nowMicros(): number {
  const millis = Date.now();
  return millis * 1000 + Math.floor((performance.now() % 1) * 1000);
}

/** Errors of SQLite and of the disk become `unavailable`, or `state-unusable` for damage. */
export function translated(error: unknown): unknown {
  if (!(error instanceof SQLiteError) && !FULL.has(errnoOf(error) ?? '')) return error;
  if (error instanceof SQLiteError && isDamage(error)) {
    return new AppError(
      'state-unusable',
      `${EVENTS_FILE} is damaged: restore it from a backup, or move it away and a new, empty one is made`,
      { cause: error },
    );
  }
  return new AppError('unavailable', NOT_WRITABLE, {
    headers: { 'Retry-After': RETRY_SECONDS },
    cause: error,
  });
}
