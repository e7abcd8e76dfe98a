/**
 * Changes of rows as a client asks for them, and what they leave behind: the file, the audit, the locks.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Service } from '../support/service.ts';
import { address } from './listing.ts';

type SentHeaders = Readonly<Record<string, string>>;

/** An answer to a change. */
export interface Changed {
  readonly status: number;
  readonly text: string;
  /** The parsed body; null when it is no JSON. */
  readonly body: unknown;
  /** `detail` of an error. */
  readonly detail: unknown;
  readonly headers: Headers;
  /** `ETag`; `''` when there is none. */
  readonly etag: string;
  /** `row_ids` of a success; empty otherwise. */
  readonly rowIds: readonly number[];
}

/** Sends any change; text and bytes go as they are, everything else as JSON. */
export async function change(
  client: Client,
  method: string,
  name: string,
  body?: unknown,
  headers: SentHeaders = {},
): Promise<Changed> {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const response = await client.fetch(address(name), {
    method,
    headers,
    ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as Bun.BodyInit }),
  });
  const text = await response.text();
  const parsed = jsonOf(text) as { detail?: unknown; row_ids?: number[] } | null;
  return {
    status: response.status,
    text,
    body: parsed,
    detail: parsed?.detail,
    headers: response.headers,
    etag: response.headers.get('ETag') ?? '',
    rowIds: parsed?.row_ids ?? [],
  };
}

/** Appends rows (DS-73). */
export function create(
  client: Client,
  name: string,
  data: readonly object[],
  headers?: SentHeaders,
): Promise<Changed> {
  return change(client, 'POST', name, { action: 'create', data }, headers);
}

/** Changes cells of a row; `data` with `_row_id`. */
export function update(
  client: Client,
  name: string,
  data: object,
  headers?: SentHeaders,
): Promise<Changed> {
  return change(client, 'PATCH', name, { action: 'update', data }, headers);
}

/** Deletes a row. */
export function remove(
  client: Client,
  name: string,
  rowId: number,
  headers?: SentHeaders,
): Promise<Changed> {
  return change(client, 'DELETE', name, { action: 'delete', data: { _row_id: rowId } }, headers);
}

/** The entity tag of all rows of a dataset. */
export async function currentTag(client: Client, name: string, query = ''): Promise<string> {
  const response = await client.fetch(address(name) + query, {
    headers: { 'Accept-Encoding': 'identity' },
  });
  await response.body?.cancel();
  return response.headers.get('ETag') ?? '';
}

/** The part of an entity tag that names the file version. */
export function versionOf(etag: string): string {
  return etag.replace(/^"|"$/g, '').replace(/-gz$/, '').split('.')[0] ?? '';
}

/** Bytes of a file of the docroot, one character for each. */
export function bytesOf(service: Service, rel: string): string {
  return readFileSync(join(service.docroot, rel)).toString('latin1');
}

/** What tells whether a file was written or replaced, even with the same content. */
export function writeState(service: Service, rel: string): unknown {
  const { ino, mtimeNs, ctimeNs, size } = statSync(join(service.docroot, rel), { bigint: true });
  return { ino, mtimeNs, ctimeNs, size, content: bytesOf(service, rel) };
}

/** An audit entry as it is stored. */
export interface AuditRow {
  readonly id: number;
  readonly timestamp: string;
  readonly user_id: number | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ip_address: string | null;
}

/** Audit entries newer than the given id, oldest first. */
export function auditAfter(service: Service, id: number): Promise<AuditRow[]> {
  return service.accounts.db.all<AuditRow>(
    'SELECT id, timestamp, user_id, action, resource, details, ip_address FROM audit WHERE id > ? ORDER BY id',
    [id],
  );
}

/** The id of the newest audit entry; 0 when there is none. */
export async function lastAuditId(service: Service): Promise<number> {
  const row = await service.accounts.db.get<{ id: number | null }>(
    'SELECT max(id) AS id FROM audit',
  );
  return row?.id ?? 0;
}

/** The lock rows of a file. */
export function locksOn(service: Service, rel: string): Promise<unknown[]> {
  return service.accounts.db.all('SELECT * FROM locks WHERE resource = ?', [rel]);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The test looks at the text.
    return null;
  }
}
