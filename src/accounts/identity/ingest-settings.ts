import { sha256Hex } from '../../base/ids.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { Database, SqlValue } from '../../store/database.ts';
import { rememberedFor } from '../../store/remembered.ts';

export interface IngestSettings {
  /** May only create events. */
  readonly createOnly: boolean;
  /** Null: all its owner may write. */
  readonly indexes: readonly string[] | null;
  /** For entries that name none. */
  readonly index: string | null;
  readonly sourcetype: string | null;
  readonly source: string | null;
  readonly host: string | null;
  readonly ack: boolean;
  readonly hasAlias: boolean;
}

export const DEFAULT_INGEST_SETTINGS: IngestSettings = {
  createOnly: false,
  indexes: null,
  index: null,
  sourcetype: null,
  source: null,
  host: null,
  ack: true,
  hasAlias: false,
};

interface SettingsRow {
  readonly create_only: number;
  readonly indexes: string | null;
  readonly default_index: string | null;
  readonly default_sourcetype: string | null;
  readonly default_source: string | null;
  readonly default_host: string | null;
  readonly ack: number;
  readonly alias_hash: string | null;
}

const byKey = rememberedFor<IngestSettings>(1_000);

/** One indexed read after a state change, else from memory. */
export function getIngestSettings(db: Database, apiKeyId: number): MaybePromise<IngestSettings> {
  return byKey(db).get(db, String(apiKeyId), async () => {
    const row = await db.get<SettingsRow>(
      `SELECT create_only, indexes, default_index, default_sourcetype, default_source, default_host, ack, alias_hash
       FROM ingest_settings WHERE api_key_id = ?`,
      [apiKeyId],
    );
    return row === null ? DEFAULT_INGEST_SETTINGS : settingsOf(row);
  });
}

function settingsOf(row: SettingsRow): IngestSettings {
  return {
    createOnly: row.create_only === 1,
    indexes: row.indexes === null ? null : (JSON.parse(row.indexes) as string[]),
    index: row.default_index,
    sourcetype: row.default_sourcetype,
    source: row.default_source,
    host: row.default_host,
    ack: row.ack === 1,
    hasAlias: row.alias_hash !== null,
  };
}

/** `alias`: a new alias, null removes it, undefined keeps it. */
export async function putIngestSettings(
  db: Database,
  apiKeyId: number,
  settings: Omit<IngestSettings, 'hasAlias'>,
  alias: string | null | undefined,
): Promise<void> {
  const aliasHash = typeof alias === 'string' ? sha256Hex(alias.toLowerCase()) : null;
  const values: SqlValue[] = [
    apiKeyId,
    settings.createOnly ? 1 : 0,
    settings.indexes === null ? null : JSON.stringify(settings.indexes),
    settings.index,
    settings.sourcetype,
    settings.source,
    settings.host,
    settings.ack ? 1 : 0,
    aliasHash,
  ];
  const keepsAlias = alias === undefined ? 'ingest_settings.alias_hash' : 'excluded.alias_hash';
  await db.run(
    `INSERT INTO ingest_settings (api_key_id, create_only, indexes, default_index, default_sourcetype, default_source,
       default_host, ack, alias_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (api_key_id) DO UPDATE SET create_only = excluded.create_only, indexes = excluded.indexes,
       default_index = excluded.default_index, default_sourcetype = excluded.default_sourcetype,
       default_source = excluded.default_source, default_host = excluded.default_host, ack = excluded.ack,
       alias_hash = ${keepsAlias}`,
    values,
  );
}
