/**
 * What a re-read configuration changes in a running server (DS-199).
 *
 * Which settings apply at once stands in the table (`live`); everything else keeps its running value, so the result
 * is always a configuration the server could have been started with.
 */
import { configFrom, settingAt, settingKeys, valueAt } from './schema.ts';
import type { Config, SettingKey } from './schema.ts';

/** What a reload changes (DS-199). */
interface Reload {
  /** The running configuration with every change that applies at once. */
  readonly config: Config;
  readonly applied: readonly SettingKey[];
  /** Keys whose change waits for a restart. */
  readonly restart: readonly SettingKey[];
}

/** Compares a running configuration with a freshly loaded one. Turning TLS on or off always needs a restart. */
export function resolveReload(running: Config, loaded: Config): Reload {
  const changed = settingKeys.filter(
    (key) => !Bun.deepEquals(valueAt(running, key), valueAt(loaded, key)),
  );
  const switchesTls = (running.tls_cert === null) !== (loaded.tls_cert === null);
  const appliesLive = (key: SettingKey): boolean =>
    settingAt(key).live === true && !(switchesTls && (key === 'tls_cert' || key === 'tls_key'));
  const applied = changed.filter(appliesLive);
  return {
    config: configFrom((key) => valueAt(applied.includes(key) ? loaded : running, key)),
    applied,
    restart: changed.filter((key) => !appliesLive(key)),
  };
}
