/**
 * What a new copy of a table takes over from the one it replaces: its version and the ids of its rows (DS-46, DS-48, DS-49).
 */
import { type FileStamp, sameStamp } from '../base/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import type { Table } from './table.ts';
import type { TableJournal } from './table-meta.ts';

/** A version of a file together with its companions. */
interface CopiedVersion {
  readonly stamp: FileStamp;
  /** See `companionFingerprint`. */
  readonly companion: string;
}

/** What of a new copy comes from the present one. */
export interface Lineage {
  /** The version all of this is of; `lineageFor` says what of it another one takes. */
  readonly origin: CopiedVersion & {
    /** Of its content, by which it is known under another stamp; null: by its stamp alone. */
    readonly hash: string | null;
  };
  /** With the sequence, the version of the copy (DS-46). */
  readonly generation: string;
  readonly sequence: number;
  /** Ids for the rows, in order; absent: 1…n by position. */
  readonly ids?: {
    readonly from: string;
    readonly deleted: readonly number[];
    readonly created: readonly number[];
    readonly lastRowId: number;
  };
}

/** What a copy of this version takes over from the present one, when it is that version still. */
export function lineageOf(old: Table | null, { stamp, companion }: CopiedVersion): Lineage {
  const kept = old && idsOf(old, stamp);
  // The edit that changed the types has told its caller this version already.
  const isFollowUp =
    kept && old.outdated === 'types' && old.head.companion === companion && !old.unfinished();
  return {
    origin: { companion, ...(kept?.origin ?? { stamp, hash: null }) },
    ...(isFollowUp
      ? { generation: old.head.generation, sequence: old.state.sequence + 1 }
      : { generation: shortId(), sequence: 0 }),
    ...(kept && { ids: kept.ids }),
  };
}

/**
 * What of a lineage holds for the version that is found when the copy is made; `hashOf` is that of its content. Another content
 * is an external edit, whenever it came (DS-49).
 */
export async function lineageFor(
  { origin, generation, sequence, ids }: Lineage,
  found: CopiedVersion,
  hashOf: () => Promise<string>,
): Promise<Omit<Lineage, 'origin'>> {
  const mayBeSame = origin.hash !== null && origin.stamp.size === found.stamp.size;
  const isSameFile =
    sameStamp(found.stamp, origin.stamp) || (mayBeSame && (await hashOf()) === origin.hash);
  const isSame = isSameFile && found.companion === origin.companion;
  return {
    ...(isSame ? { generation, sequence } : { generation: shortId(), sequence: 0 }),
    ...(isSameFile && ids && { ids }),
  };
}

/**
 * The ids a rebuilt copy must keep: those of an edit that was cut off after the file was in place, or those of the
 * present copy when the same bytes only get other types; and the version they are of.
 */
function idsOf(
  old: Table,
  stamp: FileStamp,
): {
  readonly ids: NonNullable<Lineage['ids']>;
  readonly origin: Omit<Lineage['origin'], 'companion'>;
} | null {
  const from = old.path;
  const journal = old.unfinished();
  if (journal && isJournalled(journal, stamp)) {
    const { deleted, created, lastRowId } = journal;
    return { ids: { from, deleted, created, lastRowId }, origin: { stamp, hash: null } };
  }
  if (old.outdated === 'content') return null;
  const { stamp: own, hash, lastRowId } = old.state;
  return { ids: { from, deleted: [], created: [], lastRowId }, origin: { stamp: own, hash } };
}

/** Whether the journal is about the file version with this stamp; the ctime was not known when it was written. */
export function isJournalled(journal: TableJournal, stamp: FileStamp): boolean {
  const { size, mtimeNs, inode } = journal.stamp;
  return size === stamp.size && mtimeNs === stamp.mtimeNs && inode === stamp.inode;
}
