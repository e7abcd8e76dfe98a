/**
 * The companion files of a dataset, for callers without access to `.svc`. Who may change the rows may say how the file is
 * read: both decide what others see of it.
 */
import type { App } from '../../app.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller } from '../../accounts/rights/principal.ts';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import { jsonText } from '../../base/json/json.ts';
import { companionTexts, readOptions, storeCompanion } from '../../docroot/companions.ts';
import type { TypedPreview } from '../../tables/infer/file-preview.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import {
  MAX_COMPANION_BYTES,
  optionNames,
  parseCompanionSchema,
  parseOptions,
} from '../../tables/infer/companion.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { mayAccess, type Actor, record } from '../access.ts';

export type CompanionObject = Readonly<Record<string, unknown>>;

export interface Companions {
  /** Null: there is no such file, or it holds no object. */
  readonly options: CompanionObject | null;
  readonly schema: CompanionObject | null;
  readonly problem: string | null;
  readonly version: string;
}

/** Absent members stay as they are; null deletes. */
export interface CompanionChange {
  readonly options?: CompanionObject | null;
  readonly schema?: CompanionObject | null;
}

/** The caller may read the dataset. */
export async function readCompanions(services: App, resource: Resource): Promise<Companions> {
  const { registry } = services;
  const texts = await companionTexts(registry.root, registry.companionsOf(resource));
  const present = registry.get(resource.rel, resource.sheet) ?? resource;
  return {
    options: objectOf(texts.options?.text ?? null),
    schema: objectOf(texts.schema?.text ?? null),
    problem: present.problem,
    version: sha256Hex(JSON.stringify([texts.options, texts.schema])).slice(0, 22),
  };
}

/** The right and the mode of the server allow it, and the file can be read in more than one way. */
export async function mayArrange(
  services: App,
  caller: Caller,
  resource: Resource,
): Promise<boolean> {
  if (caller === null || services.config.readonly || !resource.kind.dataset?.preview) return false;
  return mayAccess(await loadGrants(services.db, caller), resource, 'write');
}

/** The start of the file as it would be read with these options. Throws as `requireOptions`. */
export async function previewFile(
  services: App,
  resource: Resource,
  options: CompanionObject,
): Promise<TypedPreview> {
  const { registry, workers } = services;
  const parsed = requireOptions(resource, options);
  const own = await readOptions(registry.root, [], resource.kind, resource);
  return workers.preview(resource, { ...own.options, ...parsed });
}

/**
 * Resolves when the files are durable and the dataset was read with them. The caller may write rows. Throws
 * `invalid-request` for what no companion may hold, `unreadable-file` for options with which not
 * even the start of the file can be read, `precondition-failed`, and as `storeCompanion`; then nothing has changed.
 */
export async function writeCompanions(
  services: App,
  actor: Actor & { readonly name: string },
  resource: Resource,
  change: CompanionChange,
  ifMatch: readonly string[] | null,
): Promise<Companions> {
  const { registry, locks, tables, datasets } = services;
  if (change.schema) requireSchema(change.schema);
  if (change.options) {
    const parsed = requireOptions(resource, change.options);
    const isChosen = Object.keys(parsed).length > 0 && resource.kind.dataset?.preview;
    const preview = isChosen ? await previewFile(services, resource, change.options) : null;
    if (preview !== null && preview.problem !== null) {
      const text = `Cannot read '${resource.rel}' with these options: ${preview.problem}`;
      throw new AppError('unreadable-file', text);
    }
  }
  const paths = registry.companionsOf(resource);
  const places = { options: paths.options, schema: paths.schema };
  const touched: string[] = [];
  const lock = await locks.acquire({
    resource: resource.rel,
    owner: actor.name,
    reason: 'write:companion',
  });
  try {
    const { version } = await readCompanions(services, resource);
    if (ifMatch !== null && !ifMatch.includes('*') && !ifMatch.includes(version)) {
      const text = `Precondition failed: '${resource.canonical}' has changed`;
      throw new AppError('precondition-failed', text, { headers: { etag: `"${version}"` } });
    }
    const present = await companionTexts(registry.root, paths);
    for (const name of ['options', 'schema'] as const) {
      const value = change[name];
      if (value === undefined) continue;
      const [longest] = places[name];
      if (longest === undefined) throw invalid(name, NO_PLACE);
      await lock.check();
      // What is left of a deleted one must not let the next in precedence count.
      const rels = value === null ? places[name] : [present[name]?.rel ?? longest];
      for (const rel of rels) {
        await storeCompanion(registry.root, rel, value === null ? null : `${jsonText(value, 2)}\n`);
        touched.push(rel);
      }
    }
  } finally {
    await lock.release();
  }
  if (touched.length > 0) {
    await registry.refresh(touched);
    services.cache.drop(resource.rel);
    try {
      await tables.current(datasets.targetOf(datasets.resourceOf(resource)));
    } catch (error) {
      // Stored all the same; the answer has the reason.
      if (!(error instanceof AppError)) throw error;
    }
    const isGone = Object.values(change).every((value) => value === null);
    await record(
      services,
      actor,
      isGone ? 'delete_companion' : 'update_companion',
      resource.sheet === null ? resource.rel : `${resource.rel}/${resource.sheet}`,
      `${isGone ? 'Deleted' : 'Updated'} companion ${Object.keys(change).join(' and ')}`,
    );
  }
  return readCompanions(services, resource);
}

const NO_PLACE = 'A worksheet with a slash in its name can have no companion';

function invalid(member: string, msg: string): AppError {
  return invalidRequest({ type: 'value_error', loc: ['body', member], msg });
}

/** Throws `invalid-request`, naming what is wrong and what would be right. */
function requireOptions({ kind }: Resource, options: CompanionObject): object {
  const known = optionNames(kind.type);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const offered = known.length === 0 ? 'none' : known.join(', ');
    const hint = near === null ? `known are ${offered}` : `did you mean '${near}'?`;
    throw invalid('options', `Unknown option '${name}': ${hint}`);
  }
  const parsed = parseOptions(jsonText(options), { kind: kind.type });
  if (parsed.problem !== null) throw invalid('options', parsed.problem);
  return parsed.options;
}

function requireSchema(schema: CompanionObject): void {
  const text = jsonText(schema);
  const { problem, ignored } = parseCompanionSchema(text);
  if (problem !== null) throw invalid('schema', problem);
  if (ignored) throw invalid('schema', 'A schema with "generated_by" would be ignored');
  if (Buffer.byteLength(text) * 2 > MAX_COMPANION_BYTES) {
    throw new AppError('too-large', `A companion may not exceed ${MAX_COMPANION_BYTES} bytes`);
  }
}

function objectOf(text: string | null): CompanionObject | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    return isObject ? (value as CompanionObject) : null;
  } catch {
    return null;
  }
}
