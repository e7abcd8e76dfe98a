/**
 * Lists, structs and maps as JSON text, from the levels of their leaves (the Dremel paper; parquet-format,
 * LogicalTypes.md "Nested Types").
 *
 * A map becomes an object whose keys are texts. Contradicting levels are refused, because rows would silently shift
 * against each other.
 */
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { Repetition } from '../../src/tables/parquet/format.ts';
import type { Cell } from '../../src/tables/types.ts';
import { longCell } from './cells.ts';
import { isItem, type Leaf, type SchemaNode } from './schema.ts';

/** Entries of some rows of a nested leaf; there are cells only for values. */
export interface Entries {
  readonly definition: number[];
  readonly repetition: number[];
  readonly cells: Cell[];
}

interface Cursor {
  readonly entries: Entries;
  at: number;
  cellAt: number;
}

export class NestedJson {
  readonly #field: SchemaNode;
  readonly #cursors: readonly Cursor[];
  /** Characters of the current row. */
  #length = 0;

  /** `entries` belong to the field's leaves in order, all for the same rows. */
  constructor(field: SchemaNode, entries: readonly Entries[]) {
    this.#field = field;
    this.#cursors = entries.map((found) => ({ entries: found, at: 0, cellAt: 0 }));
  }

  /** Compact JSON, null for a null. Throws `unreadable-file`. */
  next(): string | null {
    this.#length = 0;
    const text = this.#value(this.#field, 0);
    return text === 'null' ? null : text;
  }

  /** After the last row: throws when entries are left. */
  end(): void {
    if (this.#cursors.some(({ at, entries }) => at !== entries.definition.length))
      throw this.#crooked();
  }

  #cursor({ firstLeaf }: SchemaNode): Cursor {
    return this.#cursors[firstLeaf - this.#field.firstLeaf]!;
  }

  #value(node: SchemaNode, level: number): string {
    if (node.repetition === Repetition.repeated) {
      return this.#list(node, level, (own) => this.#content(node, own));
    }
    if (node.repetition === Repetition.optional && !this.#isThere(node)) {
      this.#skip(node, level);
      return this.#counted('null');
    }
    return this.#content(node, level);
  }

  /** One occurrence of a present node. */
  #content(node: SchemaNode, level: number): string {
    if (node.leaf) return this.#leafValue(node, node.leaf, level);
    const [child] = node.children as [SchemaNode];
    if (node.annotation === 'list') {
      const item = isItem(child) ? null : child.children[0]!;
      return this.#list(child, level, (own) =>
        item ? this.#value(item, own) : this.#content(child, own),
      );
    }
    return node.annotation === 'map' ? this.#map(child, level) : this.#struct(node, level);
  }

  #list(repeated: SchemaNode, level: number, item: (level: number) => string): string {
    return this.#counted(`[${this.#repeat(repeated, level, item).join(',')}]`, 2);
  }

  #map(entry: SchemaNode, level: number): string {
    const [key, value] = entry.children as [SchemaNode, SchemaNode | undefined];
    const members = this.#repeat(entry, level, (own) => {
      const text = this.#value(key, own);
      const name = text.startsWith('"') ? text : JSON.stringify(text);
      return `${name}:${value ? this.#value(value, own) : 'null'}`;
    });
    return this.#counted(`{${members.join(',')}}`, 2);
  }

  #struct({ children }: SchemaNode, level: number): string {
    const members = children.map(
      (child) => `${this.#counted(JSON.stringify(child.name))}:${this.#value(child, level)}`,
    );
    return this.#counted(`{${members.join(',')}}`, 2);
  }

  /** None when the field is absent. */
  #repeat(repeated: SchemaNode, level: number, item: (level: number) => string): string[] {
    if (!this.#isThere(repeated)) {
      this.#skip(repeated, level);
      return [];
    }
    const items = [item(level)];
    const own = repeated.maxRepetition;
    const first = this.#cursor(repeated);
    while (first.entries.repetition[first.at] === own) items.push(item(own));
    return items;
  }

  #leafValue(node: SchemaNode, leaf: Leaf, level: number): string {
    const cursor = this.#cursor(node);
    const { entries } = cursor;
    this.#expect(cursor, level);
    if (entries.definition[cursor.at] !== leaf.maxDefinition) throw this.#crooked();
    cursor.at++;
    return this.#counted(jsonText(entries.cells[cursor.cellAt++]!, leaf));
  }

  #isThere(node: SchemaNode): boolean {
    const cursor = this.#cursor(node);
    if (cursor.at >= cursor.entries.definition.length) throw this.#crooked();
    return cursor.entries.definition[cursor.at]! >= node.maxDefinition;
  }

  /** Every leaf below an absent field has one entry for it. */
  #skip(node: SchemaNode, level: number): void {
    const from = node.firstLeaf - this.#field.firstLeaf;
    for (let index = from; index < from + node.leafCount; index++) {
      const cursor = this.#cursors[index]!;
      this.#expect(cursor, level);
      if (cursor.entries.definition[cursor.at]! >= node.maxDefinition) throw this.#crooked();
      cursor.at++;
    }
  }

  #expect({ entries, at }: Cursor, level: number): void {
    if (at >= entries.definition.length || entries.repetition[at] !== level) throw this.#crooked();
  }

  /** Throws before a text becomes too long, not after. */
  #counted(text: string, length = text.length): string {
    this.#length += length;
    if (this.#length > MAX_CELL_CHARACTERS) throw longCell(this.#field.name);
    return text;
  }

  #crooked(): Error {
    return damaged(`column '${this.#field.name}': nested values that do not fit together`);
  }
}

function jsonText(cell: Cell, { type }: Leaf): string {
  if (typeof cell !== 'string') return String(cell);
  // Numbers with too many digits arrive as text.
  const isNumber = type.kind === 'decimal' || type.kind === 'integer';
  return isNumber ? cell : JSON.stringify(cell);
}
