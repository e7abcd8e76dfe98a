/**
 * The list of resources as folders, cut to what one page can hold: a level with all that lies below it while that
 * is little, else its folders as links to pages of their own, and a long level a part at a time.
 */
import { pageAddress } from '../../docroot/registry/addresses.ts';
import type { ResourceFacts } from '../../operations/files/resources.ts';
import { kindName } from '../../api/kind-names.ts';
import { folderAddress } from '../addresses.ts';
import type { ResourceView } from '../../http/context.ts';

/** A resource in the list. */
export interface TreeEntry extends ResourceFacts {
  readonly label: string;
  readonly href: string;
  readonly type: ResourceView['type'];
  /** What people call its kind. */
  readonly kind: string;
  readonly problem: string | null;
}

/** A folder, or a workbook with its sheets. */
export interface TreeFolder {
  readonly label: string;
  readonly isWorkbook: boolean;
  /** Resources below it, at any depth. */
  readonly count: number;
  readonly problems: number;
  /** The page of this folder alone. */
  readonly href: string;
  readonly isOpen: boolean;
  /** Null: too many to stand on this page. */
  readonly content: TreeLevel | null;
}

/** The folders and then the resources of one folder. */
export interface TreeLevel {
  readonly folders: readonly TreeFolder[];
  readonly entries: readonly TreeEntry[];
}

/** One page of the list. */
export interface ResourceTree {
  readonly level: TreeLevel;
  /** Resources that match, on all pages. */
  readonly count: number;
  /** Offset of the part before; null on the first. */
  readonly previous: number | null;
  /** Offset of the next part; null on the last. */
  readonly next: number | null;
}

interface TreeRequest {
  /** Only below this folder; `''`: everywhere. */
  readonly folder: string;
  /** Only names, or file names, that contain this, whatever the case. */
  readonly filter: string;
  /** Folders and resources of the top level to leave out. */
  readonly offset: number;
  readonly factsOf: (resource: ResourceView) => ResourceFacts;
}

/** Resources that stand on one page; each is about 0.2 ms of a browser's time. */
const MAX_INLINE = 500;
/** Up to so many are seen at a glance, with all folders open. */
const MAX_OPEN = 80;
/** Matches of a filter are what somebody wants to see. */
const MAX_OPEN_MATCHES = 500;
const PAGE_ITEMS = 500;
/** Sorting more of them as people do takes too long; byte order is what they come in. */
const MAX_SORTED = 5_000;

const order = new Intl.Collator('en', { numeric: true });

/** The page of the list that is asked for. `resources` in the order in which names shall come. */
export function resourceTree(
  resources: readonly ResourceView[],
  { folder, filter, offset, factsOf }: TreeRequest,
): ResourceTree {
  const prefix = folder === '' ? '' : `${folder}/`;
  const wanted = filter.toLowerCase();
  const found = resources.filter(
    ({ name, rel }) =>
      name.startsWith(prefix) &&
      (wanted === '' || name.toLowerCase().includes(wanted) || rel.toLowerCase().includes(wanted)),
  );
  const isWhole = found.length <= MAX_INLINE;
  const isOpen = found.length <= (filter === '' ? MAX_OPEN : MAX_OPEN_MATCHES);
  const top = levelOf(found, prefix.length);
  const items = top.folders.length + top.entries.length;
  const part = partOf(top, isWhole ? 0 : offset, isWhole ? items : PAGE_ITEMS);
  const end = offset + PAGE_ITEMS;
  return {
    level: treeLevel(part, { prefix, filter, isWhole, isOpen, factsOf }),
    count: found.length,
    previous: isWhole || offset === 0 ? null : Math.max(0, offset - PAGE_ITEMS),
    next: isWhole || end >= items ? null : end,
  };
}

interface Level {
  /** With what lies below, by name. */
  readonly folders: readonly (readonly [string, readonly ResourceView[]])[];
  readonly entries: readonly ResourceView[];
}

interface LevelOptions extends Pick<TreeRequest, 'filter' | 'factsOf'> {
  /** Path of the level with its slash. */
  readonly prefix: string;
  readonly isWhole: boolean;
  readonly isOpen: boolean;
}

function levelOf(resources: readonly ResourceView[], start: number): Level {
  const folders = new Map<string, ResourceView[]>();
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
    entries: entries.map((resource) => entryOf(resource, prefix.length, options.factsOf)),
  };
}

function folderOf(
  label: string,
  below: readonly ResourceView[],
  options: LevelOptions,
): TreeFolder {
  const { prefix, filter, isWhole, isOpen } = options;
  const path = prefix + label;
  const address = folderAddress(path);
  return {
    label,
    isWorkbook: below.every(({ type, name }) => type === 'excel' && isChild(name, path)),
    count: below.length,
    problems: below.filter(({ problem }) => problem !== null).length,
    href: filter === '' ? address : `${address}&filter=${encodeURIComponent(filter)}`,
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
  factsOf: TreeRequest['factsOf'],
): TreeEntry {
  const { name, type, problem } = resource;
  return {
    label: name.slice(start),
    type,
    kind: kindName(resource),
    problem,
    href: pageAddress(resource, resource.name),
    ...factsOf(resource),
  };
}
