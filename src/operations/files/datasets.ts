import { createHmac } from 'node:crypto';
import type { App } from '../../app.ts';
import type { Caller, Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { fileNameOf, stemOf } from '../../base/paths.ts';
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import { type ReadingHint, readingHints } from '../../tables/infer/reading-hints.ts';
import type { Format } from '../../tables/read/format.ts';
import type { ListParameters } from '../../tables/read/list-parameters.ts';
import { looksAtRows, type Mutation, parseMutation } from '../../tables/edit/change-request.ts';
import { misfitValues, type MisfitValue, type ValueRules } from '../../tables/edit/mutation.ts';
import { TableRowFinder } from '../../tables/edit/row-finder.ts';
import { StaleRead } from '../../tables/read/table-reader.ts';
import type { PreparedRead } from '../../tables/copy/table-cache.ts';
import type { Table } from '../../tables/copy/table.ts';
import type { Column } from '../../tables/types.ts';
import { type FixedView, withinView } from '../../tables/read/fixed-view.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import { mayAccess, type Origin, record, requireAccess } from '../access.ts';
import { isWritable, readOnlyReason } from './resources.ts';
import { changeAt, type Moment } from './versions.ts';
import type { Edit } from '../../tables/edit/edits.ts';
import type { EditResult, StepResult } from '../../tables/edit/draft.ts';
import type { Summary, SummaryWish } from '../../tables/read/summary-jobs.ts';

/** `Allow` of a dataset that cannot be written. */
export const READ_METHODS = 'GET, HEAD, OPTIONS';
export const DATASET_METHODS = 'GET, HEAD, OPTIONS, POST, PATCH, DELETE';
export const ROW_METHODS = 'GET, HEAD, OPTIONS, PATCH, DELETE';

/**
 * The dataset of a name after `/api/` or `/schema/`; synchronous when `requireAccess` is. Throws as `requireAccess`,
 * and `not-found` for a name that is no dataset.
 */
export function findDataset(
  services: App,
  caller: Caller,
  origin: Origin,
  { name, verb, forLinks }: DatasetRequest,
): MaybePromise<Resource> {
  const resource = services.registry.lookup('dataset', name);
  const allowed = requireAccess(services, caller, origin, {
    name,
    resource,
    verb,
    ...(forLinks && { forLinks }),
  });
  return whenResolved(allowed, (found) => {
    // A handler has neither rows nor a schema.
    if (found.kind.dataset === undefined) throw new AppError('not-found', 'Not Found');
    return found;
  });
}

type DatasetRequest = Pick<Parameters<typeof requireAccess>[3], 'name' | 'verb' | 'forLinks'>;

export interface RowsQuery {
  readonly resource: Resource;
  readonly table: Table;
  readonly prepared: PreparedRead;
  /** Differs for all that differs but the version. */
  readonly tag: string;
}

/** Versions tried when a file changes faster than it is read. */
const MAX_VERSIONS = 8;

/**
 * Calls `use` with the query prepared against the present version, within the view of the resource; `use` reads it
 * with `services.reading.run`, or does not read. With a moment, as the rows were then. Called again when a newer version replaces this one meanwhile. Throws `unreadable-file`,
 * `invalid-query` for parameters, and what `use` throws.
 */
export function queryRows<T>(
  services: App,
  resource: Resource,
  given: ListParameters,
  format: Format,
  use: (query: RowsQuery) => MaybePromise<T>,
  moment: Moment | null = null,
): MaybePromise<T> {
  const { view } = resource;
  const parameters = view === undefined ? given : withinView(given, view);
  const attempt = (number: number): MaybePromise<T> =>
    whenResolved(tableAt(services, resource, moment), (table) => {
      if (moment === null) services.cache.note('data', resource.rel, cacheKeyOf(resource, table));
      const again = (error: unknown): MaybePromise<T> => {
        const isOvertaken = error instanceof StaleRead || table.isClosed;
        if (!isOvertaken || number === MAX_VERSIONS) throw error;
        return attempt(number + 1);
      };
      try {
        const prepared = preparedRead(services, table, parameters, { format, view });
        const used = use({ resource, table, prepared, tag: tagOf(services, resource, prepared) });
        return used instanceof Promise ? used.catch(again) : used;
      } catch (error) {
        return again(error);
      }
    });
  return attempt(1);
}

/** Of a fixed view the hash of its parameters would confirm a guessed filter. */
function tagOf(
  { serverSecret }: App,
  { view }: Resource,
  { representation }: PreparedRead,
): string {
  if (view === undefined) return representation;
  const sealed = createHmac('sha256', serverSecret).update(`view\0${representation}`);
  return sealed.digest('base64url').slice(0, 16);
}

/** Of a fixed view no message tells: it would name columns that the view does not show. */
function preparedRead(
  { reading }: App,
  table: Table,
  parameters: ListParameters,
  { format, view }: { readonly format: Format; readonly view: FixedView | undefined },
): PreparedRead {
  try {
    return reading.prepare(table, parameters, format);
  } catch (error) {
    if (view === undefined || !(error instanceof AppError)) throw error;
    throw new AppError('unreadable-file', 'The columns that this view needs are no longer there');
  }
}

/** Its columns, or those of its fixed view. */
export function visibleColumns({ view }: Resource, { columns }: Table): readonly Column[] {
  if (view === undefined) return columns;
  const byName = new Map(columns.map((column) => [column.name, column]));
  return view.columns.flatMap((name) => byName.get(name) ?? []);
}

/** The present table without a moment; synchronous when nothing has to be read. Throws as `PastTables.at`. */
function tableAt(services: App, resource: Resource, moment: Moment | null): MaybePromise<Table> {
  const { tables, datasets, past } = services;
  const target = datasets.targetOf(resource);
  if (moment === null) return tables.currentIfKnown(target);
  if (resource.view !== undefined) throw new AppError('not-found', 'Not Found');
  return changeAt(services, resource, moment).then((id) =>
    past.at(() => tables.current(target), resource, id),
  );
}

/** As JSON text, with the version it belongs to. */
export async function readSchema(
  services: App,
  resource: Resource,
  moment: Moment | null = null,
): Promise<{ readonly version: string; readonly json: string }> {
  const table = await tableAt(services, resource, moment);
  if (moment === null) services.cache.note('schema', resource.rel, `:${resource.sheet ?? ''}`);
  const companion = resource.view === undefined ? table.head.companionSchema : null;
  return { version: table.version(), json: companion ?? inferredSchema(services, resource, table) };
}

/** The part of a `data:` cache key after the file. */
function cacheKeyOf({ sheet }: Resource, { state }: Table): string {
  return sheet === null ? '' : `:${sheet}:${state.dialect['headerRow'] ?? 1}`;
}

/** Of columns that are read as text for want of an option. */
export function hintsOf({ columns, state, head }: Table): ReadingHint[] {
  return readingHints(columns, state.counts, state.forms, head.context);
}

/** As text, because an object would put columns named like integers first. */
function inferredSchema(services: App, resource: Resource, table: Table): string {
  const { state } = table;
  const isWhole = resource.view === undefined;
  const types = visibleColumns(resource, table).map(({ name, type, format, numbers, file }) => {
    const unit = numbers?.marks.unit;
    const isBase64 = file?.type.kind === 'opaque' && file.type.isBase64;
    const column = {
      type,
      ...(format && { format }),
      ...(unit !== undefined && { unit }),
      ...(isBase64 && { contentEncoding: 'base64' }),
    };
    return `${JSON.stringify(name)}:${JSON.stringify(column)}`;
  });
  const hints = isWhole ? hintsOf(table) : [];
  const members = {
    source: (isWhole && resource.kind.dataset?.source?.(state.dialect)) || undefined,
    read_only: (isWhole && readOnlyReason(services, resource)) || undefined,
    hints: hints.length > 0 ? hints : undefined,
  };
  const notes = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return `{"type":"object","name":${JSON.stringify(stemOf(fileNameOf(resource.rel)))},"primary_key":"_row_id","columns":{${types.join(',')}}${notes.join('')}}`;
}

/** Throws `unreadable-file`, and `method-not-allowed` for what only the content tells. */
export async function requireWritableContent(services: App, resource: Resource): Promise<void> {
  await services.tables.current(services.datasets.targetOf(resource));
  refuseReadOnly(services, resource);
}

export interface ChangeRequest {
  readonly method: string;
  readonly body: unknown;
  /** Tags of `If-Match`; null when the header is absent. */
  readonly ifMatch: readonly string[] | null;
  readonly isLenient?: boolean;
}

/**
 * Resolves when the change is durable. Throws `permission-denied` when it looks at rows and the caller may not read
 * them, `schema-mismatch`, `precondition-failed`, `not-found` for a row, `locked` and `conflict`.
 */
export async function changeRows(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  request: ChangeRequest,
): Promise<EditResult> {
  const { method, body, ifMatch, isLenient } = request;
  const isAlone = looksAtRows(body);
  if (isAlone) {
    const { canonical: name } = resource;
    await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
  }
  const parsed = new WeakMap<Table, { version: string; mutation: Promise<Mutation> }>();
  return submitChange(services, caller, origin, resource, {
    ifMatch,
    isAlone,
    validate: (table) => {
      const version = table.version();
      const known = parsed.get(table);
      if (known && (!isAlone || known.version === version)) return known.mutation;
      const mutation = parseChange(services, resource, table, { method, body, isLenient });
      parsed.set(table, { version, mutation });
      return mutation;
    },
  });
}

/** Throws as `parseMutation`. */
export function parseChange(
  services: App,
  resource: Resource,
  table: Table,
  { method, body, isLenient }: Pick<ChangeRequest, 'method' | 'body' | 'isLenient'>,
): Promise<Mutation> {
  const rules = { ...valueRules(resource), isLenient };
  const finder = new TableRowFinder(table, services.reading);
  return parseMutation(method, body, table.spelledColumns, rules, finder);
}

/** As `changeRows`, for a change that is made from the version it is applied to. */
export async function submitChange(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  edit: Pick<Edit, 'ifMatch' | 'isAlone' | 'validate' | 'undoes'>,
): Promise<EditResult> {
  const result = await services.edits.submit({
    ...edit,
    target: services.datasets.targetOf(resource),
    owner: caller.username,
    userId: caller.userId,
    name: resource.canonical,
  });
  if (result.isChanged) {
    services.cache.drop(resource.rel);
    const name = resource.sheet === null ? resource.rel : `${resource.rel}/${resource.sheet}`;
    const entries = result.steps.flatMap(auditEntries);
    const recorded = entries.map(([action, details]) =>
      record(services, { user: caller, origin }, action, name, details),
    );
    // In parallel: audit entries wait for the disk, those notified of the change work in other processes.
    await Promise.all([...recorded, result.followed]);
  }
  return result;
}

/** What the caller is told of a change. */
export function receiptOf({ action, isDryRun, isUnrecorded, rowIds, steps }: EditResult): object {
  const results = steps.map((step) => ({
    action: step.action,
    count: step.rowIds.length,
    row_ids: step.rowIds,
    ...countsOf(step),
  }));
  return {
    success: true,
    ...(isDryRun && { dry_run: true }),
    ...(isUnrecorded && { history: 'not kept' }),
    count: rowIds.length,
    row_ids: rowIds,
    ...(action === 'batch' ? { results } : steps[0] && countsOf(steps[0])),
  };
}

function countsOf({ action, rowIds, createdIds }: StepResult): object {
  if (action !== 'upsert') return {};
  return { created: createdIds.length, updated: rowIds.length - createdIds.length };
}

/**
 * The values in `rows` that the dataset would refuse now, each with the reason; changes nothing. The caller may
 * change rows. Throws `schema-mismatch` when `rows` is no list of objects or names columns that cannot be written.
 */
export async function checkValues(
  services: App,
  resource: Resource,
  rows: unknown,
): Promise<MisfitValue[]> {
  const table = await services.tables.current(services.datasets.targetOf(resource));
  return misfitValues(rows, table.spelledColumns, valueRules(resource));
}

function refuseReadOnly(services: App, resource: Resource): void {
  const reason = readOnlyReason(services, resource);
  if (reason === null) return;
  throw new AppError('method-not-allowed', reason, { headers: { allow: READ_METHODS } });
}

function valueRules({ kind }: Resource): ValueRules {
  const { maxTextLength, hasNull, hasTypedCells } = kind.dataset ?? {};
  return { maxTextLength, hasNull, hasTypedCells };
}

function auditEntries({ action, rowIds, createdIds }: StepResult): [string, string][] {
  if (action === 'delete') return entry('delete_dataset_row', 'Deleted', rowIds);
  const created = new Set(createdIds);
  const updated = rowIds.filter((id) => !created.has(id));
  const text =
    created.size === 1 ? 'Created 1 dataset row' : `Created ${created.size} dataset rows`;
  return [
    ...(created.size > 0 ? [['create_dataset_rows', text] as [string, string]] : []),
    ...entry('update_dataset_row', 'Updated', updated),
  ];
}

/** Ids named in one entry; it tells the number of all. */
const MAX_AUDITED_IDS = 500;

function entry(action: string, verb: string, rowIds: readonly number[]): [string, string][] {
  if (rowIds.length === 0) return [];
  if (rowIds.length === 1) return [[action, `${verb} dataset row ${rowIds[0]}`]];
  const named = rowIds.slice(0, MAX_AUDITED_IDS).join(', ');
  const rest = rowIds.length > MAX_AUDITED_IDS ? ', …' : '';
  return [[action, `${verb} ${rowIds.length} dataset rows: ${named}${rest}`]];
}

/** The right, the kind and the mode of the server allow it. */
export async function mayChangeRows(
  services: App,
  caller: Caller,
  resource: Resource,
): Promise<boolean> {
  if (caller === null || !isWritable(services, resource)) return false;
  return mayAccess(await loadGrants(services.db, caller), resource, 'write');
}

/** Throws `method-not-allowed` when rows of this file cannot be changed. */
export function requireWritable(services: App, resource: Resource, method: string): void {
  refuseReadOnly(services, resource);
  if (method !== 'POST' && method !== 'PATCH' && method !== 'DELETE') {
    throw new AppError('method-not-allowed', 'Method Not Allowed', {
      headers: { allow: DATASET_METHODS },
    });
  }
}

interface SummaryRequest {
  /** Only `filter` and `q` matter. */
  readonly parameters: ListParameters;
  /** One column, or two for a chart of two. */
  readonly columns: readonly string[];
  readonly wish: SummaryWish;
  readonly signal: AbortSignal;
  readonly moment?: Moment | null;
}

/** Throws `invalid-query` for unknown columns and filters, and what reading throws. */
export async function summariseRows(
  services: App,
  resource: Resource,
  { parameters, columns, wish, signal, moment = null }: SummaryRequest,
): Promise<Summary> {
  const list = {
    ...parameters,
    columns: columns.map((column) => `"${column.replaceAll('"', '""')}"`),
    limit: null,
    offset: 0,
    sort: '',
    cursor: null,
  };
  const use = async ({ table, prepared }: RowsQuery): Promise<Summary> => {
    if (columns.length === 0 || prepared.plan.shape.columns.length === 0) {
      throw new AppError('invalid-query', 'Invalid columns: a column of the file is needed');
    }
    return services.reading.summarise(table, prepared, wish, signal);
  };
  return queryRows(services, resource, list, 'json', use, moment);
}
