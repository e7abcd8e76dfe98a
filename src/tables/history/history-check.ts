/** Whether all that the history keeps can be read, and belongs together. Reads all of it. */
import type { Database } from '../../store/database.ts';
import type { KeptContent } from './change-log.ts';
import { decodeChanges } from './row-change.ts';

interface CheckedEntry {
  readonly id: number;
  readonly rel: string;
  readonly row_count: number;
  readonly state: string;
  readonly is_mapped: number;
  readonly map: Uint8Array | null;
  readonly hash: string | null;
  readonly size: number | null;
}

const ENTRIES_AT_ONCE = 100;

/** By entry and reason. `contentProblem`: what is wrong with a content of a file; null: nothing. */
export async function historyProblems(
  db: Database,
  contentProblem: (content: KeptContent) => Promise<string | null>,
): Promise<string[]> {
  const problems: string[] = [];
  const contents = new Map<string, string | null>();
  for (let after = 0; ;) {
    const entries = await db.all<CheckedEntry>(
      `SELECT id, rel, row_count, state, before_numbering IS NOT NULL AS is_mapped, map, hash, file_versions.size AS size
       FROM changes LEFT JOIN change_maps ON change_maps.change_id = id
       LEFT JOIN file_versions ON file_versions.change_id = id
       WHERE id > ? ORDER BY id LIMIT ${ENTRIES_AT_ONCE}`,
      [after],
    );
    for (const entry of entries) {
      const { id, rel, hash, size } = entry;
      const problem = await rowProblem(db, entry);
      if (problem !== null) problems.push(`change ${id} of ${rel}: ${problem}`);
      if (hash === null || size === null) continue;
      if (!contents.has(hash)) contents.set(hash, await contentProblem({ hash, size }));
      const lost = contents.get(hash);
      if (lost != null) problems.push(`change ${id} of ${rel}: what the file held before: ${lost}`);
    }
    if (entries.length < ENTRIES_AT_ONCE) return problems;
    after = entries.at(-1)!.id;
  }
}

async function rowProblem(
  db: Database,
  { id, row_count: expected, is_mapped: isMapped, map, hash }: CheckedEntry,
): Promise<string | null> {
  try {
    if (map !== null) JSON.parse(textOf(map));
    const pieces = await db.all<{ id: number; first_row: number; last_row: number }>(
      'SELECT id, first_row, last_row FROM change_rows WHERE change_id = ? ORDER BY first_row',
      [id],
    );
    let count = 0;
    for (const piece of pieces) {
      const stored = await db.get<{ rows: Uint8Array }>(
        'SELECT rows FROM change_rows WHERE id = ?',
        [piece.id],
      );
      // Forgotten meanwhile.
      if (stored === null) return null;
      const rows = decodeChanges(stored.rows);
      count += rows.length;
      if (rows[0]?.rowId !== piece.first_row || rows.at(-1)?.rowId !== piece.last_row) {
        return 'its rows are those of another change';
      }
    }
    // Of what others added only the first are kept; of whole files and what was too much, none.
    const mayBeLess = isMapped === 1 || hash !== null;
    const isWhole = mayBeLess ? count <= expected : count === expected;
    return isWhole ? null : `${count} of its ${expected} rows are there`;
  } catch {
    return 'its rows are damaged, or written by a newer version';
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>)).toString();
}
