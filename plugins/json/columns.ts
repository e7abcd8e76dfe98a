import { cleanNames } from '../../src/tables/infer/header-names.ts';
import type { FileColumn } from '../../src/tables/infer/file-type.ts';
import { MAX_COLUMNS } from '../../src/tables/limits.ts';
import { foundAt, columnOf, textOf } from './cells.ts';
import { JsonFault, type MemberSpans } from './scan.ts';

export class Columns {
  /** As in the file; by position. */
  readonly keys: string[] = [];
  readonly #found: number[] = [];
  /** By the name as it is written, which may have escapes. */
  readonly #positions = new Map<string, number>();
  /** Positions of the members of the last row: most rows have the same ones. */
  readonly #guess: number[] = [];
  readonly #written: string[] = [];

  static of(keys: readonly string[]): Columns {
    const columns = new Columns();
    for (const key of keys) columns.#add(key);
    return columns;
  }

  /** Of the member's name; a new one adds a column. */
  position(text: string, spans: MemberSpans, member: number): number {
    const [from, to] = [spans.nameFrom(member), spans.nameTo(member)];
    const guess = this.#guess[member] ?? -1;
    const expected = this.#written[guess];
    if (expected?.length === to - from && text.startsWith(expected, from)) return guess;
    const written = text.slice(from, to);
    let position = this.#positions.get(written);
    if (position === undefined) {
      const key = written.includes('\\') ? textOf(`"${written}"`, from) : written;
      position = this.#positions.get(key) ?? this.#add(key, from);
      this.#positions.set(written, position);
    }
    this.#guess[member] = position;
    this.#written[position] = written;
    return position;
  }

  note(position: number, text: string, from: number, to: number): void {
    this.#found[position]! |= foundAt(text, from, to);
  }

  types(): (FileColumn | null)[] {
    return this.#found.map(columnOf);
  }

  names(): string[] {
    return cleanNames(this.keys);
  }

  #add(key: string, at = 0): number {
    if (this.keys.length === MAX_COLUMNS)
      throw new JsonFault(`more than ${MAX_COLUMNS} columns`, at);
    this.#positions.set(key, this.keys.length);
    this.#found.push(0);
    return this.keys.push(key) - 1;
  }
}
