import { type FileStamp, sameContent, sameStamp } from '../../base/files/file-stamp.ts';
import { shortId } from '../../base/ids.ts';
import type { TableTarget } from './table-target.ts';
import type { Table } from './table.ts';

interface CopiedVersion {
  readonly stamp: FileStamp;
  /** See `companionFingerprint`. */
  readonly companion: string;
}

export interface Lineage {
  /** The version this describes; `lineageFor` decides what another version may take. */
  readonly origin: CopiedVersion & {
    /** Content hash, to recognise it under another stamp; null: by stamp alone. */
    readonly hash: string | null;
  };
  /** Together with the sequence this is the version of the copy. */
  readonly generation: string;
  readonly sequence: number;
  /** Row ids in order; absent: 1…n. */
  readonly ids?: {
    readonly from: string;
    readonly deleted: readonly number[];
    readonly created: readonly number[];
    readonly lastRowId: number;
    /** `Table.numbering` of the present copy. */
    readonly numbering: string;
  };
}

/** For the parse worker. */
export interface BuildOrder extends Lineage {
  readonly target: TableTarget;
  readonly out: string;
}

/** What a copy of this version takes from the present one, if that is still the same version. */
export function lineageOf(old: Table | null, { stamp, companion }: CopiedVersion): Lineage {
  const kept = old && idsOf(old, stamp);
  // The edit that changed the types has already returned this version.
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
 * The part that holds for the version found when the copy is made. Other content is an external edit, whenever it
 * came.
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
 * Those of an edit cut off after the file was in place, or of the present copy when the same bytes only get other
 * types.
 */
function idsOf(
  old: Table,
  stamp: FileStamp,
): {
  readonly ids: NonNullable<Lineage['ids']>;
  readonly origin: Omit<Lineage['origin'], 'companion'>;
} | null {
  const { path: from, numbering } = old;
  const journal = old.unfinished();
  if (journal && sameContent(journal.stamp, stamp)) {
    const { deleted, created, lastRowId } = journal;
    return { ids: { from, numbering, deleted, created, lastRowId }, origin: { stamp, hash: null } };
  }
  if (old.outdated === 'content') return null;
  const { stamp: own, hash, lastRowId } = old.state;
  const ids = { from, numbering, deleted: [], created: [], lastRowId };
  return { ids, origin: { stamp: own, hash } };
}
