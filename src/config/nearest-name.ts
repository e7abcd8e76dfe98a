/**
 * Optimal string alignment distance (insert, delete, replace, or swap two neighbours). Quadratic in the length, so
 * overlong input gets no suggestion.
 */

const MAX_NAME_LENGTH = 64;

/** Null when more than a third of the letters would have to change. Of equally close candidates the first wins. */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  let nearest: string | null = null;
  let best = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= best) continue;
    const changes = distance(name.toLowerCase(), candidate.toLowerCase());
    if (changes < best) {
      best = changes;
      nearest = candidate;
    }
  }
  return nearest;
}

export function suggestion(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === null ? '' : `; did you mean '${nearest}'?`;
}

export function unknownKey(key: unknown, known: ReadonlySet<string>, place = ''): string {
  return `has the unknown key '${String(key)}'${place}${suggestion(String(key), [...known])}`;
}

function distance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforePrevious[column - 2]! + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
