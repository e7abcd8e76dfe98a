/**
 * The columns that lines told for the lines after them, by index and source. Those that are new wait in `unsaved` for the
 * transaction of the events that told them.
 */
import type { Layout } from './column-lines.ts';

/** Sources whose columns are remembered. */
const MAX_LAYOUTS = 1000;

/** Of one source; `layout` null: it is forgotten. */
export interface LayoutChange {
  readonly place: string;
  readonly layout: Layout | null;
}

export class Layouts {
  readonly #known: Map<string, Layout>;
  readonly #parent: Layouts | null;
  #unsaved = new Map<string, Layout | null>();
  /** Lines come in runs of one source. */
  #last = { index: '', source: '', place: placeOf('', '') };

  /** The last ones are forgotten last. */
  constructor(
    known: Iterable<readonly [place: string, layout: Layout]> = [],
    parent: Layouts | null = null,
  ) {
    this.#known = new Map(known);
    this.#parent = parent;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0 && (this.#parent === null || this.#parent.isEmpty);
  }

  find(index: string, source: string): Layout | undefined {
    return this.#known.get(this.#place(index, source)) ?? this.#parent?.find(index, source);
  }

  tell(index: string, source: string, layout: Layout): void {
    this.#set(this.#place(index, source), layout);
  }

  #set(place: string, layout: Layout): void {
    const before = this.#known.get(place);
    this.#known.delete(place);
    this.#known.set(place, layout);
    if (before === undefined || !isSame(before, layout)) this.#unsaved.set(place, layout);
    if (this.#known.size <= MAX_LAYOUTS) return;
    const oldest = this.#known.keys().next().value!;
    this.#known.delete(oldest);
    this.#unsaved.set(oldest, null);
  }

  /** For a request, whose lines may yet be refused: what it tells counts for others once `merge` was called. */
  branch(): Layouts {
    return new Layouts([], this);
  }

  merge(branch: Layouts): void {
    for (const [place, layout] of branch.#known) this.#set(place, layout);
  }

  /** What the store does not have yet; `saved` ends that. */
  get unsaved(): readonly LayoutChange[] {
    return Array.from(this.#unsaved, ([place, layout]) => ({ place, layout }));
  }

  saved(): void {
    if (this.#unsaved.size > 0) this.#unsaved = new Map();
  }

  #place(index: string, source: string): string {
    if (index !== this.#last.index || source !== this.#last.source)
      this.#last = { index, source, place: placeOf(index, source) };
    return this.#last.place;
  }
}

function placeOf(index: string, source: string): string {
  return JSON.stringify([index, source]);
}

function isSame(one: Layout, other: Layout): boolean {
  return one.format === other.format && one.names.join(' ') === other.names.join(' ');
}
