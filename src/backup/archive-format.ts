/**
 * A backup is a gzipped tar of `manifest.json`, `state/…`, `companions/…`, `docroot/…` and last `SHA256SUMS`, so that
 * `tar` and `sha256sum -c` can read it without svc. Of two entries of one name the last counts: its file changed
 * while it was first read.
 */
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { AppError } from '../base/errors.ts';

/** Raised when older versions of svc cannot restore what newer ones write. */
export const ARCHIVE_FORMAT = 1;
export const MANIFEST = 'manifest.json';
/** Last entry: `<sha-256 in hexadecimal>  <entry>` for each other one; without it an archive is truncated. */
export const CHECKSUMS = 'SHA256SUMS';

const PARTS = ['state', 'companions', 'docroot'] as const;
export type ArchivePart = (typeof PARTS)[number];

export interface Manifest {
  readonly format: number;
  readonly svc: string;
  readonly schema: number;
  readonly created_at: string;
  readonly with_docroot: boolean;
}

const manifestSchema: TSchema = Type.Object({
  format: Type.Integer(),
  svc: Type.String(),
  schema: Type.Integer(),
  created_at: Type.String(),
  with_docroot: Type.Boolean(),
});

export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (!Value.Check(manifestSchema, value)) throw notBackup();
  return value as Manifest;
}

/** Throws `bad-request`. */
export function requireKnown(manifest: Manifest, newestSchema: number): void {
  if (manifest.format <= ARCHIVE_FORMAT && manifest.schema <= newestSchema) return;
  throw new AppError(
    'bad-request',
    `This backup was made by a newer svc (${manifest.svc}): restore it with that version`,
  );
}

/** Throws `bad-request`. */
export function splitEntryName(name: string): { part: ArchivePart; rel: string } {
  const slash = name.indexOf('/');
  const part = PARTS.find((one) => one === name.slice(0, slash));
  const rel = name.slice(slash + 1);
  const isPlain = rel.split('/').every((segment) => !['', '.', '..'].includes(segment));
  if (part === undefined || !isPlain || rel.includes('\0')) throw notBackup();
  return { part, rel };
}

export function notBackup(): AppError {
  return new AppError('bad-request', 'This is no backup made by svc, or it is damaged');
}
