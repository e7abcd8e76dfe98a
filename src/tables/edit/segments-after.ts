import type { Segment, TableChanges } from '../types.ts';

/**
 * For kinds that never look for rows by bytes. Existing segments stay, possibly without rows; new rows fill the last
 * up to `most`, then add more.
 */
export function segmentsAfter(
  segments: readonly Segment[],
  changes: TableChanges,
  most = Infinity,
): Segment[] {
  const deleted = [...changes.deletes].sort((a, b) => a - b);
  let end = 0;
  let next = 0;
  const after = segments.map(({ rows, bytes }) => {
    end += rows;
    const from = next;
    while (next < deleted.length && deleted[next]! < end) next++;
    return { rows: rows - (next - from), bytes };
  });
  for (let left = changes.creates.length; left > 0;) {
    const last = after.at(-1);
    const taken = Math.max(0, Math.min(left, last ? most - last.rows : 0));
    if (last && taken > 0) last.rows += taken;
    else after.push({ rows: 0, bytes: 0 });
    left -= taken;
  }
  return after;
}
