/**
 * The list of resources as folders, cut to one page: a level with all below it while that is little, else its folders as
 * links, and a long level in parts.
 */
import { pageAddress } from '../../docroot/registry/addresses.ts';
import type { ResourceFacts } from '../../operations/files/resources.ts';
import { kindName } from '../../api/kind-names.ts';
import { addressWith, folderAddress } from '../addresses.ts';
import type { ResourceView } from '../../http/context.ts';

/** What may be done with a file or folder as a whole. */
export interface Placed {
  /** In the document root. */
  readonly rel: string;
  readonly mayMove: boolean;
  readonly mayWrite: boolean;
}

export interface TreeEntry extends ResourceFacts, Placed {
  readonly label: string;
  readonly href: string;
  readonly type: ResourceView['type'];
  readonly kind: string;
  readonly problem: string | null;
}

/** Or a workbook with its sheets. */
export interface TreeFolder extends Placed {
  readonly label: string;
  readonly isWorkbook: boolean;
  /** At any depth. */
  readonly count: number;
  readonly problems: number;
  readonly href: string;
  readonly isOpen: boolean;
  /** Null: too many for this page. */
  readonly content: TreeLevel | null;
}

export interface TreeLevel {
  readonly folders: readonly TreeFolder[];
  readonly entries: readonly TreeEntry[];
}

export interface ResourceTree {
  readonly level: TreeLevel;
  readonly count: number;
  /** Null on the first page. */
  readonly previous: number | null;
  /** Null on the last. */
  readonly next: number | null;
}

interface TreeRequest {
  /** `''`: everywhere. */
  readonly folder: string;
  /** In names or file names, ignoring case. */
  readonly filter: string;
  /** Of the top level. */
  readonly offset: number;
  readonly factsOf: (resource: ResourceView) => ResourceFacts;
  /** Of a file; null: of the folder of that path. */
  readonly placedAs: (rel: string, resource: ResourceView | null) => Placed;
  /** Folders at the top of the level in which nothing is published. */
  readonly others: readonly string[];
}

/** Each is about 0.2 ms of a browser's time. */
const MAX_INLINE = 500;
/** Then all folders are open. */
const MAX_OPEN = 80;
const MAX_OPEN_MATCHES = 500;
const PAGE_ITEMS = 500;
/** More stay in byte order: sorting them takes too long. */
const MAX_SORTED = 5_000;

const order = new Intl.Collator('en', { numeric: true });

/** `resources` in the order of names. */
export function resourceTree(
  resources: readonly ResourceView[],
  { folder, filter, offset, factsOf, placedAs, others }: TreeRequest,
): ResourceTree {
  const names = new Set(resources.map(({ name }) => name));
  const prefix = folder === '' ? '' : `${folder}/`;
  const wanted = filter.toLowerCase();
  const found = resources.filter(
    ({ name, rel }) =>
      name.startsWith(prefix) &&
      (wanted === '' || name.toLowerCase().includes(wanted) || rel.toLowerCase().includes(wanted)),
  );
  const isWhole = found.length <= MAX_INLINE;
  const isOpen = found.length <= (filter === '' ? MAX_OPEN : MAX_OPEN_MATCHES);
  const top = levelOf(found, prefix.length, filter === '' ? others : []);
  const items = top.folders.length + top.entries.length;
  const part = partOf(top, isWhole ? 0 : offset, isWhole ? items : PAGE_ITEMS);
  const end = offset + PAGE_ITEMS;
  return {
    level: treeLevel(part, { prefix, filter, isWhole, isOpen, factsOf, placedAs, names }),
    count: found.length,
    previous: isWhole || offset === 0 ? null : Math.max(0, offset - PAGE_ITEMS),
    next: isWhole || end >= items ? null : end,
  };
}

interface Level {
  readonly folders: readonly (readonly [string, readonly ResourceView[]])[];
  readonly entries: readonly ResourceView[];
}

interface LevelOptions extends Pick<TreeRequest, 'filter' | 'factsOf' | 'placedAs'> {
  readonly names: ReadonlySet<string>;
  readonly prefix: string;
  readonly isWhole: boolean;
  readonly isOpen: boolean;
}

function levelOf(
  resources: readonly ResourceView[],
  start: number,
  others: readonly string[] = [],
): Level {
  const folders = new Map<string, ResourceView[]>(others.map((label) => [label, []]));
  const entries: ResourceView[] = [];
  for (const resource of resources) {
    const slash = resource.name.indexOf('/', start);
    if (slash < 0) {
      entries.push(resource);
      continue;
    }
    const label = resource.name.slice(start, slash);
    const below = folders.get(label);
    if (below === undefined) folders.set(label, [resource]);
    else below.push(resource);
  }
  const isFew = folders.size + entries.length <= MAX_SORTED;
  return {
    folders: isFew ? [...folders].sort(([a], [b]) => order.compare(a, b)) : [...folders],
    entries: isFew ? entries.sort((a, b) => order.compare(a.name, b.name)) : entries,
  };
}

function partOf({ folders, entries }: Level, offset: number, count: number): Level {
  const end = offset + count;
  const shift = folders.length;
  return {
    folders: folders.slice(offset, end),
    entries: entries.slice(Math.max(0, offset - shift), Math.max(0, end - shift)),
  };
}

function treeLevel({ folders, entries }: Level, options: LevelOptions): TreeLevel {
  const { prefix } = options;
  return {
    folders: folders.map(([label, below]) => folderOf(label, below, options)),
    entries: entries.map((resource) => entryOf(resource, prefix.length, options)),
  };
}

function folderOf(
  label: string,
  below: readonly ResourceView[],
  options: LevelOptions,
): TreeFolder {
  const { prefix, filter, isWhole, isOpen } = options;
  const path = prefix + label;
  const address = folderAddress(path, options.names.has(path));
  const [first] = below;
  const isWorkbook =
    below.length > 0 && below.every(({ type, name }) => type === 'excel' && isChild(name, path));
  return {
    ...options.placedAs(isWorkbook ? first!.rel : path, isWorkbook ? first! : null),
    label,
    isWorkbook,
    count: below.length,
    problems: below.filter(({ problem }) => problem !== null).length,
    href: addressWith(address, { filter }),
    isOpen,
    content: isWhole
      ? treeLevel(levelOf(below, path.length + 1), { ...options, prefix: `${path}/` })
      : null,
  };
}

function isChild(name: string, path: string): boolean {
  return !name.slice(path.length + 1).includes('/');
}

function entryOf(
  resource: ResourceView,
  start: number,
  { factsOf, placedAs }: LevelOptions,
): TreeEntry {
  const { name, rel, type, problem } = resource;
  return {
    ...placedAs(rel, resource),
    label: name.slice(start),
    type,
    kind: kindName(resource),
    problem,
    href: pageAddress(resource, resource.name),
    ...factsOf(resource),
  };
}
