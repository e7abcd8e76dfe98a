/**
 * How each column spells its booleans, so that edits spell them alike.
 *
 * Counted over the whole file; only `true`, `True` and `TRUE` (and the same of false) count.
 */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ['true', 'false'],
  ['True', 'False'],
  ['TRUE', 'FALSE'],
];
const INDEX = new Map(
  SPELLINGS.flatMap((pair, index) => pair.map((word) => [word, index] as const)),
);
const LETTER_T = 0x74;
const LETTER_F = 0x66;

export type SpellingCounts = Record<string, readonly number[]>;

export class BooleanSpelling {
  readonly #counts = new Map<number, number[]>();

  constructor(counts: SpellingCounts = {}) {
    for (const [position, entry] of Object.entries(counts)) {
      this.#counts.set(Number(position), [...entry]);
    }
  }

  /** `step` -1 takes a cell back; cheap for cells that are no booleans. */
  count(position: number, cell: string, step: 1 | -1 = 1): void {
    const letter = cell.charCodeAt(0) | 0x20;
    if (letter !== LETTER_T && letter !== LETTER_F && letter !== 0x20) return;
    const index = INDEX.get(cell.trim());
    if (index === undefined) return;
    let entry = this.#counts.get(position);
    if (!entry) this.#counts.set(position, (entry = [0, 0, 0]));
    entry[index]! += step;
  }

  spell(position: number, value: boolean): string {
    const entry = this.#counts.get(position) ?? [];
    let best = 0;
    for (let index = 1; index < SPELLINGS.length; index++) {
      if ((entry[index] ?? 0) > (entry[best] ?? 0)) best = index;
    }
    return SPELLINGS[best]![value ? 0 : 1]!;
  }

  toJSON(): SpellingCounts {
    const used = [...this.#counts].filter(([, entry]) => entry.some((count) => count > 0));
    return Object.fromEntries(used);
  }
}
