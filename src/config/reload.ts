/**
 * Settings marked `live` apply at once, the others keep their running value, so the result is always a configuration
 * the server could have started with.
 */
import { configFrom, settingAt, settingKeys, valueAt } from './settings.ts';
import type { Config, SettingKey } from './settings.ts';

interface Reload {
  readonly config: Config;
  readonly applied: readonly SettingKey[];
  readonly restart: readonly SettingKey[];
}

/** Turning TLS on or off always needs a restart. */
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
