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
  /** The version all of this is meant for; if another one is read, `lineageFor` says what it takes. */
  readonly version: CopiedVersion;
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

/** What a copy of this version takes over from the present one. */
export function lineageOf(old: Table | null, { stamp, companion }: CopiedVersion): Lineage {
  const ids = idsFor(old, stamp);
  // The edit that changed the types has told its caller this version already.
  const isFollowUp =
    ids && old?.outdated === 'types' && old.head.companion === companion && !old.unfinished();
  return {
    version: { stamp, companion },
    ...(isFollowUp
      ? { generation: old.head.generation, sequence: old.state.sequence + 1 }
      : { generation: shortId(), sequence: 0 }),
    ...(ids && { ids }),
  };
}

/** What of a lineage holds for the version that was found when the copy was made: one that came later is an external edit. */
export function lineageFor(meant: Lineage, found: CopiedVersion): Omit<Lineage, 'version'> {
  const { version, generation, sequence, ids } = meant;
  const isSameFile = sameStamp(found.stamp, version.stamp);
  const isSame = isSameFile && found.companion === version.companion;
  return {
    ...(isSame ? { generation, sequence } : { generation: shortId(), sequence: 0 }),
    ...(isSameFile && ids && { ids }),
  };
}

/**
 * The ids a rebuilt copy must keep: those of an edit that was cut off after the file was in place, or those of the
 * present copy when the same bytes only get other types. Anything else was an external edit (DS-49).
 */
function idsFor(old: Table | null, stamp: FileStamp): Lineage['ids'] {
  if (!old) return undefined;
  const journal = old.unfinished();
  if (journal && isJournalled(journal, stamp)) {
    const { deleted, created, lastRowId } = journal;
    return { from: old.path, deleted, created, lastRowId };
  }
  if (!sameStamp(old.state.stamp, stamp) || old.outdated === 'content') return undefined;
  return { from: old.path, deleted: [], created: [], lastRowId: old.state.lastRowId };
}

/** Whether the journal is about the file version with this stamp; the ctime was not known when it was written. */
export function isJournalled(journal: TableJournal, stamp: FileStamp): boolean {
  const { size, mtimeNs, inode } = journal.stamp;
  return size === stamp.size && mtimeNs === stamp.mtimeNs && inode === stamp.inode;
}
