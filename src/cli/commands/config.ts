/**
 * `svc config`: the effective configuration and the source of every value. The YAML is a valid
 * configuration file, except that secrets show as `***`.
 */
import type { LoadedConfig } from '../../config/load.ts';
import { settingAt, settingKeys, valueAt } from '../../config/settings.ts';
import type { SettingKey } from '../../config/settings.ts';
import type { Invocation } from '../command.ts';
import { loadInvocation } from '../configuration.ts';
import { wantsJson } from '../printer.ts';

export async function showConfig(invocation: Invocation): Promise<string> {
  const loaded = await loadInvocation(invocation);
  return wantsJson(invocation) ? asJson(loaded) : asYaml(loaded);
}

function asJson(loaded: LoadedConfig): string {
  const entries = shownKeys(loaded).map((key) => [
    key,
    { value: shownValue(loaded, key), source: loaded.sources[key] },
  ]);
  return `${JSON.stringify(Object.fromEntries(entries))}\n`;
}

function asYaml(loaded: LoadedConfig): string {
  let yaml = '';
  let section = '';
  for (const key of shownKeys(loaded)) {
    const names = key.split('.');
    const name = names.pop()!;
    const parent = names.join('.');
    yaml += sectionHeads(section, names);
    section = parent;
    // A JSON value is valid YAML and cannot be misread as a comment or a tag.
    const value = JSON.stringify(shownValue(loaded, key));
    yaml += `${'  '.repeat(names.length)}${name}: ${value} # ${loaded.sources[key]}\n`;
  }
  return yaml;
}

/** The section headings between two settings; each section is contiguous. */
function sectionHeads(from: string, to: readonly string[]): string {
  const open = from.split('.');
  const common = to.findIndex((name, index) => open[index] !== name);
  if (common < 0) return '';
  return to
    .slice(common)
    .map((name, index) => `${'  '.repeat(common + index)}${name}:\n`)
    .join('');
}

/** Settings allowed only in the environment are shown only when set there. */
function shownKeys({ sources }: LoadedConfig): SettingKey[] {
  return settingKeys.filter(
    (key) => settingAt(key).environmentOnly === undefined || sources[key] !== 'default',
  );
}

function shownValue({ config }: LoadedConfig, key: SettingKey): unknown {
  const value = valueAt(config, key);
  return settingAt(key).secret === true && value !== '' ? '***' : value;
}
