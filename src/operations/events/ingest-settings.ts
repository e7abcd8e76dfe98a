import type { App } from '../../app.ts';
import { randomUUID } from 'node:crypto';
import { getApiKey } from '../../accounts/identity/api-keys.ts';
import type { IngestSettings } from '../../accounts/identity/ingest-settings.ts';
import {
  DEFAULT_INGEST_SETTINGS,
  getIngestSettings,
  putIngestSettings,
} from '../../accounts/identity/ingest-settings.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { RejectView, SenderCounters, UnknownView } from '../../events/intake/counters.ts';
import type { ListenerView } from '../../events/tail/listener-view.ts';
import type { MetaDefaults } from '../../events/intake/intake.ts';
import type { FieldErrors } from '../../events/intake/validation.ts';
import { type Origin, record } from '../access.ts';

interface IngestSettingsView extends Omit<IngestSettings, 'createOnly' | 'hasAlias'> {
  readonly create_only: boolean;
  readonly has_alias: boolean;
  /** Only in the answer that made it. */
  readonly alias?: string;
}

export async function ingestSettingsOf(
  { db }: Pick<App, 'db'>,
  { apiKeyId }: Principal,
): Promise<{
  readonly indexes: readonly string[] | null;
  readonly acknowledges: boolean;
  readonly defaults: MetaDefaults;
}> {
  if (apiKeyId === null) return { indexes: null, acknowledges: true, defaults: {} };
  const { indexes, index, sourcetype, source, host, ack } = await getIngestSettings(db, apiKeyId);
  const given = Object.entries({ index, sourcetype, source, host }).filter(
    ([, value]) => value !== null,
  );
  return { indexes, acknowledges: ack, defaults: Object.fromEntries(given) as MetaDefaults };
}

/** `anyOwner`: also of other users' keys, for superusers. Throws `not-found`. */
export async function readIngestSettings(
  services: App,
  caller: Principal,
  keyId: number,
  options: { readonly anyOwner: boolean },
): Promise<IngestSettingsView> {
  await requireKey(services, caller, keyId, options);
  return viewOf(await getIngestSettings(services.db, keyId));
}

/** Audited. Returns errors by field. Throws `not-found`. */
export async function replaceIngestSettings(
  services: App,
  caller: Principal,
  origin: Origin,
  keyId: number,
  options: { readonly anyOwner: boolean; readonly body: unknown },
): Promise<{ readonly view: IngestSettingsView } | { readonly errors: FieldErrors }> {
  await requireKey(services, caller, keyId, options);
  const errors: FieldErrors = {};
  const read = readBody(options.body, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const { alias, ...settings } = read;
  const made = alias === true ? randomUUID() : alias === false ? null : undefined;
  await putIngestSettings(services.db, keyId, settings, made);
  await record(
    services,
    { user: caller, origin },
    'update_ingest_settings',
    'apikey',
    `Updated ingest settings of key ${keyId}`,
  );
  const view = viewOf(await getIngestSettings(services.db, keyId));
  return { view: typeof made === 'string' ? { ...view, alias: made } : view };
}

async function requireKey(
  { db }: App,
  caller: Principal,
  keyId: number,
  { anyOwner }: { readonly anyOwner: boolean },
): Promise<void> {
  const key = await getApiKey(db, keyId);
  if (key !== null && (anyOwner || key.userId === caller.userId)) return;
  throw new AppError('not-found', anyOwner ? 'API Key not found' : 'API key not found');
}

type Read = Omit<IngestSettings, 'hasAlias'> & { readonly alias: boolean | undefined };

function readBody(body: unknown, errors: FieldErrors): Read {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    errors['non_field_errors'] = ['Invalid data. Expected a dictionary.'];
    return { ...DEFAULT_INGEST_SETTINGS, alias: undefined };
  }
  const members = body as Record<string, unknown>;
  const flag = (name: string, otherwise: boolean): boolean => {
    const value = members[name] ?? otherwise;
    if (typeof value !== 'boolean') errors[name] = ['Must be a valid boolean.'];
    return value === true;
  };
  const text = (name: string): string | null => {
    const value = members[name] ?? null;
    if (value === null) return null;
    if (typeof value !== 'string') errors[name] = ['Not a valid string.'];
    else if (value.trim() === '') errors[name] = ['This field may not be blank.'];
    else if (value.length > 255)
      errors[name] = ['Ensure this field has no more than 255 characters.'];
    return typeof value === 'string' ? value.trim() : null;
  };
  const indexes = members['indexes'] ?? null;
  const isList =
    Array.isArray(indexes) && indexes.every((name) => typeof name === 'string' && name !== '');
  if (indexes !== null && !isList) errors['indexes'] = ['Expected a list of strings or null.'];
  return {
    createOnly: flag('create_only', false),
    indexes: isList ? (indexes as string[]) : null,
    index: text('index'),
    sourcetype: text('sourcetype'),
    source: text('source'),
    host: text('host'),
    ack: flag('ack', true),
    alias: members['alias'] === undefined ? undefined : flag('alias', false),
  };
}

function viewOf(settings: IngestSettings): IngestSettingsView {
  const { createOnly, hasAlias, ...others } = settings;
  return { create_only: createOnly, ...others, has_alias: hasAlias };
}

export async function describeIngest({ events, ingestCounters, listeners, config }: App): Promise<{
  readonly queue: {
    events: number;
    bytes: number;
    capacity_events: number;
    capacity_bytes: number;
  };
  readonly commits: { per_second: number; p99_ms: number };
  readonly credentials: readonly SenderCounters[];
  readonly unknown: readonly UnknownView[];
  readonly listeners: readonly ListenerView[];
  readonly problem?: string;
}> {
  const stats = events.ingest.stats();
  const { problem } = events.ingest;
  return {
    queue: {
      events: stats.events,
      bytes: stats.bytes,
      capacity_events: config.events.queue_events,
      capacity_bytes: config.events.queue_bytes,
    },
    commits: { per_second: stats.commitsPerSecond, p99_ms: stats.p99Ms },
    credentials: await ingestCounters.credentials(),
    unknown: ingestCounters.unknown(),
    listeners: [...listeners.values()].map((view) => view()),
    ...(problem !== null && { problem }),
  };
}

/** Newest first. */
export function listRejects({ ingestCounters }: App): RejectView[] {
  return ingestCounters.rejects();
}
