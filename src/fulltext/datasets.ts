/** The datasets of the index, remembered between searches: what is read here never changes for a number. */
import type { Database } from 'bun:sqlite';
import { foldedWords } from '../tables/filter/words.ts';

interface IndexedDataset {
  readonly columns: readonly string[];
  /** Words in their names, folded. */
  readonly nameWords: readonly string[];
  /** File name of the typed copy with the rows. */
  readonly copy: string;
}

export class Datasets {
  readonly #known = new Map<number, IndexedDataset>();
  #last = 0;

  /** Takes in what was added since. */
  follow(db: Database): void {
    const added = db
      .query(
        'SELECT no, columns, copy FROM resources WHERE no > ? AND columns IS NOT NULL ORDER BY no',
      )
      .values(this.#last) as [number, string, string][];
    for (const [no, names, copy] of added) {
      const columns = JSON.parse(names) as string[];
      const nameWords = [...new Set(columns.flatMap(foldedWords))];
      this.#known.set(no, { columns, nameWords, copy });
      this.#last = no;
    }
  }

  /** Null for a document. */
  of(no: number): IndexedDataset | null {
    return this.#known.get(no) ?? null;
  }
}
