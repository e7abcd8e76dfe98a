import type { App } from '../../app.ts';
import { type Grants, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller, Principal, Verb } from '../../accounts/rights/principal.ts';
import { matchesDocument } from '../../accounts/rights/resource-names.ts';
import { timestamp } from '../../base/clock.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { Turn } from '../../processes/turn.ts';
import type { Table } from '../../tables/copy/table.ts';
import type { Tables } from '../../tables/copy/tables.ts';
import type { Column, StoredValue } from '../../tables/types.ts';
import type { Registry, Resource } from '../../docroot/registry/registry.ts';
import { mayAccess, type Origin, requireAccess } from '../access.ts';
import type { Administrator } from '../administration.ts';

/** By rel in byte order; none for an anonymous caller. */
export async function listReadable(
  { db, registry }: App,
  caller: Caller,
): Promise<readonly Resource[]> {
  if (!caller) return [];
  const grants = await loadGrants(db, caller);
  return registry.list().filter((resource) => mayAccess(grants, resource, 'read'));
}

/** What somebody may read of a file or folder, named as links name them, by path. */
export async function filesWithin(
  { db, registry }: Pick<App, 'db' | 'registry'>,
  reader: Principal,
  folder: string,
): Promise<readonly Resource[]> {
  const grants = await loadGrants(db, reader);
  return registry
    .list()
    .filter(
      (one) =>
        one.type !== 'handler' &&
        matchesDocument(folder, one.extensionForm, true) &&
        mayAccess(grants, one, 'read'),
    );
}

interface NamedRequest {
  readonly name: string;
  readonly verb: Verb;
}

/** For callers without addresses (MCP): finds any family. Throws as `requireAccess`. */
export async function findResource(
  services: App,
  caller: Caller,
  origin: Origin,
  { name, verb }: NamedRequest,
): Promise<Resource> {
  const resource = namedResource(services.registry, name);
  return requireAccess(services, caller, origin, { name, resource, verb });
}

/** A name in several families means a file first, then the resource listed under it. */
function namedResource(registry: Registry, name: string): Resource | null {
  const wanted = name.normalize('NFC');
  const found = (['dataset', 'media', 'content'] as const).flatMap(
    (area) => registry.lookup(area, wanted) ?? [],
  );
  return (
    found.find(({ extensionForm }) => extensionForm === wanted) ??
    found.find(({ canonical }) => canonical === wanted) ??
    found[0] ??
    null
  );
}

export interface ResourceFacts {
  /** Null when it vanished meanwhile. */
  readonly size: number | null;
  /** Rows of its present version; null without rows or before the first read. */
  readonly rows: number | null;
  /** Null when it vanished meanwhile. */
  readonly changedAt: string | null;
}

/** Asks no disk: a few microseconds. */
export function factsOf(
  {
    registry,
    datasets,
    tables,
  }: Pick<App, 'datasets'> & { registry: Registry; tables: Pick<Tables, 'rowCount'> },
  { rel, sheet }: Pick<Resource, 'rel' | 'sheet'>,
): ResourceFacts {
  const resource = registry.get(rel, sheet);
  const stamp = resource && registry.stampOf(resource);
  if (stamp === null) return { size: null, rows: null, changedAt: null };
  const isTable = resource?.kind.dataset !== undefined;
  return {
    size: stamp.size,
    rows: isTable ? tables.rowCount(datasets.targetOf(resource), stamp) : null,
    changedAt: timestamp(Number(stamp.mtimeNs) / 1e6),
  };
}

interface DocrootView {
  /** By rel in byte order. */
  readonly resources: readonly Resource[];
  /** What could not be read, what no name can reach, hidden worksheets, and files of no kind. */
  readonly unpublished: readonly { readonly rel: string; readonly text: string }[];
}

export function describeDocroot(
  { registry }: Pick<App, 'registry'>,
  _admin: Administrator,
): DocrootView {
  return {
    resources: registry.list(),
    unpublished: [...registry.scanProblems(), ...registry.hiddenSheets(), ...registry.unserved()],
  };
}

/** A column with an example value; undefined: none that could be shown. */
export interface DescribedColumn extends Pick<Column, 'name' | 'type'> {
  readonly example?: string | number | boolean;
  /** Blank cells apart every value has the type. */
  readonly isPure: boolean;
  readonly isBase64: boolean;
}

export interface DescribedRows {
  readonly columns: readonly DescribedColumn[];
  readonly writableColumns: readonly DescribedColumn[];
  /** How a blank cell reads: `''`, or null in Parquet. */
  readonly blank: 'empty' | 'null';
}

export interface DescribedResource {
  readonly resource: Resource;
  readonly mayRead: boolean;
  /** Holds the right, the kind can be written, and the server is not read-only. */
  readonly mayWrite: boolean;
  /** Null: not a dataset, unreadable, or being read for the first time. */
  readonly rows: DescribedRows | null;
}

const MAX_WAIT_MS = 2_000;
const MAX_EXAMPLE_CHARACTERS = 80;

/** Readable or writable, without their columns; by rel in byte order. Asks no disk. */
export function usableResources(services: App, grants: Grants): DescribedResource[] {
  return services.registry.list().flatMap((resource) => {
    const mayRead = mayAccess(grants, resource, 'read');
    const mayWrite = mayAccess(grants, resource, 'write') && isWritable(services, resource);
    return mayRead || mayWrite ? [{ resource, mayRead, mayWrite, rows: null }] : [];
  });
}

/**
 * With their columns. Datasets that are not open are read one after another for `maxWaitMs`; the rest stay without
 * columns and are not opened.
 */
export async function describeResources(
  services: App,
  usable: readonly DescribedResource[],
  maxWaitMs = MAX_WAIT_MS,
): Promise<DescribedResource[]> {
  const deadline = performance.now() + maxWaitMs;
  const waited = Bun.sleep(maxWaitMs).then(() => null);
  const described: DescribedResource[] = [];
  const slice = new TimeSlice();
  for (const one of usable) {
    if (slice.isOver) await slice.rest();
    const { resource } = one;
    const isLate = performance.now() >= deadline;
    const table =
      openTable(services, resource) ??
      (isLate ? null : await Promise.race([findTable(services, resource), waited]));
    described.push({ ...one, rows: table && describeRows(table, one.mayRead) });
  }
  return described;
}

/** By its file and the mode of the server, whatever the caller's rights. */
export function isWritable(
  services: Pick<App, 'config' | 'tables' | 'datasets'>,
  resource: Resource,
): boolean {
  if (services.config.readonly) return false;
  return resource.type === 'handler' || readOnlyReason(services, resource) === null;
}

/**
 * Why nobody can change the rows of a file; null when somebody can, and for a file whose content decides until it is
 * open.
 */
export function readOnlyReason(
  services: Pick<App, 'tables' | 'datasets'>,
  resource: Resource,
): string | null {
  const { dataset } = resource.kind;
  const reason = dataset?.readOnlyReason?.(resource.rel) ?? null;
  if (reason !== null) return reason;
  if (!dataset?.edit) return 'Method Not Allowed';
  const found = openTable(services, resource)?.state.dialect['readOnlyReason'];
  return typeof found === 'string' ? found : null;
}

function openTable(services: Pick<App, 'tables' | 'datasets'>, resource: Resource): Table | null {
  if (!resource.kind.dataset) return null;
  return services.tables.peek(services.datasets.targetOf(resource));
}

async function findTable(services: App, resource: Resource): Promise<Table | null> {
  if (!resource.kind.dataset) return null;
  try {
    const target = services.datasets.targetOf(resource);
    return await services.tables.current(target, Turn.background());
  } catch {
    // An unreadable dataset appears without columns; its problem is shown elsewhere.
    return null;
  }
}

/** Cached for a version of a table. */
interface Described {
  readonly version: string;
  readonly forReaders: DescribedRows;
  readonly forWriters: DescribedRows;
}

const described = new WeakMap<Table, Described>();

/** The right to write does not include seeing values. */
function describeRows(table: Table, mayRead: boolean): DescribedRows {
  const version = table.version();
  let known = described.get(table);
  if (known?.version !== version) {
    const values = table.isClosed ? null : table.row(1);
    known = {
      version,
      forReaders: rowsWith(table, (column, index) => exampleOf(column, values?.[index])),
      forWriters: rowsWith(table, () => undefined),
    };
    described.set(table, known);
  }
  return mayRead ? known.forReaders : known.forWriters;
}

function rowsWith(
  table: Table,
  valueOf: (column: Column, index: number) => DescribedColumn['example'],
): DescribedRows {
  const columns = table.head.columns.map((column, index): DescribedColumn => {
    const example = valueOf(column, index);
    const { name, type, declared, file } = column;
    const isBase64 = file?.type.kind === 'opaque' && file.type.isBase64 === true;
    return { name, type, isPure: !declared, isBase64, ...(example !== undefined && { example }) };
  });
  const writable = new Set(table.writableColumns.map(({ name }) => name));
  return {
    columns,
    writableColumns: columns.filter(({ name }) => writable.has(name)),
    blank: table.head.blank,
  };
}

/** Undefined for blanks, nested values and those with too many digits or characters. */
function exampleOf(
  { type, file }: Column,
  value: StoredValue | undefined,
): DescribedColumn['example'] {
  if (value === null || value === undefined || typeof value === 'bigint') return undefined;
  if (type === 'boolean' && typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return value;
  // Moments, binary and nested values are stored in another form than they are shown in.
  if (value === '' || (file !== undefined && file.type.kind !== 'text')) return undefined;
  return value.length > MAX_EXAMPLE_CHARACTERS ? undefined : value;
}
