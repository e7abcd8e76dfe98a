/**
 * One log line and the metrics of each request.
 *
 * The path is logged without its query: queries hold search texts and, by mistake, credentials.
 */
import type { Log, LogFields } from '../../base/log.ts';
import type { Metrics } from '../metrics.ts';

interface AccessEntry {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly userId: number | null;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Of the body, handed to the network. */
  readonly bytes: number;
  /** Null unless the body was cut short. */
  readonly error: unknown;
  readonly isCancelled: boolean;
}

/** No file has a longer path. */
const MAX_PATH_CHARACTERS = 4096;
/** Others share a label: clients could invent any number. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
]);

export function noteAccess(log: Log, metrics: Metrics, entry: AccessEntry): void {
  const { method, milliseconds } = entry;
  const label = KNOWN_METHODS.has(method) ? method : 'other';
  metrics.observeRequest(entry.route, label, entry.status, milliseconds / 1000);
  const fields: LogFields = {
    id: entry.requestId,
    client: entry.clientAddress,
    user_id: entry.userId,
    method,
    path:
      entry.path.length > MAX_PATH_CHARACTERS
        ? `${entry.path.slice(0, MAX_PATH_CHARACTERS)}…`
        : entry.path,
    status: entry.status,
    ms: Math.round(milliseconds * 1000) / 1000,
    bytes: entry.bytes,
  };
  if (entry.isCancelled) fields['cut'] = 'client left';
  if (entry.error !== null) Object.assign(fields, { cut: 'failed', error: entry.error });
  log.info('request', fields);
}
