/**
 * What a backup looks like: a gzipped tar of `manifest.json`, `state/…`, `companions/…`, `docroot/…` and last
 * `SHA256SUMS`, so that `tar` and `sha256sum -c` can read one without svc.
 *
 * An entry that stands twice counts as it stands last: its file changed while it was first read.
 */
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { AppError } from '../base/errors.ts';

/** Raised when older versions of svc can no longer restore what newer ones write. */
export const ARCHIVE_FORMAT = 1;
/** First entry: what the archive holds. */
export const MANIFEST = 'manifest.json';
/** Last entry: `<sha-256 in hexadecimal>  <entry>` for each other one; without it an archive is cut. */
export const CHECKSUMS = 'SHA256SUMS';

/** The parts of an archive; each is a folder of it. */
const PARTS = ['state', 'companions', 'docroot'] as const;
/** A part of an archive. */
export type ArchivePart = (typeof PARTS)[number];

/** What the first entry says. */
export interface Manifest {
  readonly format: number;
  /** Build of the svc that wrote it. */
  readonly svc: string;
  /** Schema version of its state database. */
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

/** The manifest of an archive. Throws `bad-request` for text that is none. */
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

/** Refuses an archive that this version cannot restore. Throws `bad-request`. */
export function requireKnown(manifest: Manifest, newestSchema: number): void {
  if (manifest.format <= ARCHIVE_FORMAT && manifest.schema <= newestSchema) return;
  throw new AppError(
    'bad-request',
    `This backup was made by a newer svc (${manifest.svc}): restore it with that version`,
  );
}

/** Part and path below it of an entry. Throws `bad-request` for a name no backup has. */
export function splitEntryName(name: string): { part: ArchivePart; rel: string } {
  const slash = name.indexOf('/');
  const part = PARTS.find((one) => one === name.slice(0, slash));
  const rel = name.slice(slash + 1);
  const isPlain = rel.split('/').every((segment) => !['', '.', '..'].includes(segment));
  if (part === undefined || !isPlain || rel.includes('\0')) throw notBackup();
  return { part, rel };
}

/** The refusal for a file that is no backup of svc. */
export function notBackup(): AppError {
  return new AppError('bad-request', 'This is no backup made by svc, or it is damaged');
}
