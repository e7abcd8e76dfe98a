/**
 * Which table is meant: a whole file or one sheet of it, with the companions that say how it is read (DS-70, DS-72).
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { statFile } from '../base/file-stamp.ts';

/** A table in a file of the document root. */
export interface TableTarget {
  readonly rel: string;
  readonly sheet: string | null;
  /** Absolute path of the file, for the stamp check; never shown. */
  readonly path: string;
  /** Absolute paths where companions may stand, first match wins (DS-70, DS-72). */
  readonly companions: { readonly schema: readonly string[]; readonly options: readonly string[] };
}

/** Changes whenever a companion appears, changes or goes. */
export function companionFingerprint(target: Pick<TableTarget, 'companions'>): string {
  const { schema, options } = target.companions;
  const paths = [...schema, ...options];
  // All of them would stand in one folder, which most document roots do not have.
  const hasFolder = paths.length > 0 && existsSync(dirname(paths[0]!));
  return paths
    .map((path) => {
      const stamp = hasFolder ? statFile(path) : null;
      return stamp ? `${stamp.inode}.${stamp.size}.${stamp.mtimeNs}.${stamp.ctimeNs}` : '-';
    })
    .join('|');
}
