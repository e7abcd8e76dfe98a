/**
 * The names of resources.
 *
 * A table has an *extension form*, always its own, and an extensionless name that it may share. Its *canonical name*
 * is the latter if no table before it took it, by arrival and then in byte order, and it is no other table's
 * extension form. Names are compared in NFC; file paths keep their bytes.
 */
import { sortedByBytes, stemOf } from '../../base/paths.ts';
import type { Family, ResourceType } from '../kind.ts';

export interface Table {
  /** Path relative to the document root, as on disk. */
  readonly rel: string;
  readonly sheet: string | null;
  readonly type: ResourceType;
  readonly family: Family;
  /** Another family it answers in, with its bytes. */
  readonly alsoIn?: Family;
}

/** Where a name is looked up: the families, and `ui`, which has datasets, media and dashboards but no handlers. */
export type Area = Family | 'ui';

/** For `svc check`: a resource that lost its extensionless name to another one. */
export interface SharedName<T> {
  readonly table: T;
  readonly name: string;
  readonly holder: T;
}

/** Both names in NFC. */
interface Named<T> {
  readonly table: T;
  readonly canonical: string;
  readonly extensionForm: string;
}

/** `inv.xlsx` and sheet `Stock` give `inv.xlsx/Stock`. */
function extensionFormOf({ rel, sheet }: Pick<Table, 'rel' | 'sheet'>): string {
  return (sheet === null ? rel : `${rel}/${sheet}`).normalize('NFC');
}

/** `inv.xlsx` and sheet `Stock` give `inv/Stock`. */
export function stemNameOf({ rel, sheet }: Pick<Table, 'rel' | 'sheet'>): string {
  return (sheet === null ? stemOf(rel) : `${stemOf(rel)}/${sheet}`).normalize('NFC');
}

/** Immutable; building takes about 2 µs a table. */
export class Names<T extends Table> {
  readonly #byExtensionForm = new Map<string, T>();
  readonly #byStem: Record<Area, Map<string, T>> = {
    dataset: new Map(),
    content: new Map(),
    media: new Map(),
    ui: new Map(),
  };
  /** By rel in NFC, a table of each file that holds several. */
  readonly #ofSheets = new Map<string, T>();
  /** Segments; bounds the work on a path of a hundred thousand segments. */
  #handlerDepth = 0;
  /** By rel in byte order; sheets of one file in file order. */
  readonly named: readonly Named<T>[];
  readonly shared: readonly SharedName<T>[];
  /** Their rel differs from the holder's in Unicode normalisation only. */
  readonly unreachable: readonly SharedName<T>[];

  /** `orderOf` is when a table came: the smaller has a name that several share. */
  constructor(tables: Iterable<T>, orderOf: (table: T) => number = () => 0) {
    const sorted = sortedByBytes(tables, ({ rel }) => rel);
    const byArrival = inOrderOf(sorted, orderOf);
    this.unreachable = this.#takeExtensionForms(byArrival);
    const holders = new Map<string, T>();
    for (const table of byArrival) {
      if (this.#byExtensionForm.get(extensionFormOf(table)) !== table) continue;
      const stem = stemNameOf(table);
      this.#takeStem(table, stem);
      if (table.sheet !== null) this.#ofSheets.set(table.rel.normalize('NFC'), table);
      if (!holders.has(stem)) holders.set(stem, table);
    }
    const shared: SharedName<T>[] = [];
    this.named = sorted.flatMap((table) => {
      const extensionForm = extensionFormOf(table);
      if (this.#byExtensionForm.get(extensionForm) !== table) return [];
      const stem = stemNameOf(table);
      if (table.type === 'handler') {
        this.#handlerDepth = Math.max(this.#handlerDepth, extensionForm.split('/').length);
      }
      const holder = this.#byExtensionForm.get(stem) ?? holders.get(stem)!;
      if (holder === table) return [{ table, canonical: stem, extensionForm }];
      shared.push({ table, name: stem, holder });
      return [{ table, canonical: extensionForm, extensionForm }];
    });
    this.shared = shared;
  }

  /**
   * An extension form first, else the table that has that extensionless name, else, for content, the
   * index page of the folder of that name.
   */
  find(area: Area, name: string): T | null {
    const wanted = name.normalize('NFC');
    return (
      this.#findOwn(area, wanted) ?? (area === 'content' && wanted ? this.#index(wanted) : null)
    );
  }

  /**
   * A table of the file with that rel, where its address is not that of a page: datasets and media. None for handlers, whose
   * text is nobody's to read.
   */
  findOriginal(rel: string): T | null {
    const name = rel.normalize('NFC');
    const table = this.#ofSheets.get(name) ?? this.#byExtensionForm.get(name);
    const isOwn = table !== undefined && table.rel.normalize('NFC') === name;
    return isOwn && table.family !== 'content' && table.type !== 'handler' ? table : null;
  }

  /** The longest handler name that is a prefix of whole segments, and the segments after it. */
  findHandler(segments: readonly string[]): { readonly table: T; readonly rest: string[] } | null {
    for (let length = Math.min(segments.length, this.#handlerDepth); length > 0; length--) {
      const table = this.#findOwn('dataset', segments.slice(0, length).join('/').normalize('NFC'));
      if (table?.type === 'handler') return { table, rest: segments.slice(length) };
    }
    return null;
  }

  #findOwn(area: Area, name: string): T | null {
    return this.#findExtensionForm(area, name) ?? this.#byStem[area].get(name) ?? null;
  }

  #index(folder: string): T | null {
    return (
      this.#findExtensionForm('content', `${folder}/index.html`) ??
      this.#findExtensionForm('content', `${folder}/index.md`)
    );
  }

  #findExtensionForm(area: Area, name: string): T | null {
    const own = this.#byExtensionForm.get(name);
    return own !== undefined && isIn(area, own) ? own : null;
  }

  #takeExtensionForms(sorted: readonly T[]): SharedName<T>[] {
    const unreachable: SharedName<T>[] = [];
    for (const table of sorted) {
      const name = extensionFormOf(table);
      const holder = this.#byExtensionForm.get(name);
      if (holder === undefined) this.#byExtensionForm.set(name, table);
      else unreachable.push({ table, name, holder });
    }
    return unreachable;
  }

  #takeStem(table: T, stem: string): void {
    for (const area of AREAS) {
      const stems = this.#byStem[area];
      if (isIn(area, table) && !stems.has(stem)) stems.set(stem, table);
    }
  }
}

const AREAS: readonly Area[] = ['dataset', 'content', 'media', 'ui'];

function isIn(area: Area, { family, alsoIn, type }: Table): boolean {
  if (area !== 'ui') return family === area || alsoIn === area;
  return family === 'media' || type === 'dashboard' || (family === 'dataset' && type !== 'handler');
}

/** Stable. */
function inOrderOf<T>(tables: readonly T[], orderOf: (table: T) => number): readonly T[] {
  const orders = new Map(tables.map((table) => [table, orderOf(table)]));
  const groups = [...new Set(orders.values())].toSorted((a, b) => (a < b ? -1 : 1));
  if (groups.length <= 1) return tables;
  const members = new Map<number, T[]>(groups.map((order) => [order, []]));
  for (const [table, order] of orders) members.get(order)!.push(table);
  return [...members.values()].flat();
}
