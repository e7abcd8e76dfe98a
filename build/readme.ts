/**
 * The parts of the documentation that follow from the source: two tables of README.md and systemd/svc.yaml.
 *
 * `bun build/readme.ts` rewrites them; test/readme.test.ts fails while they differ from what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCatalogue } from '../src/base/errors.ts';
import { flagOf, settingAt, settingKeys, variableOf } from '../src/config/schema.ts';
import type { SettingKey } from '../src/config/schema.ts';
import { formatBytes } from '../src/config/setting.ts';
import type { Setting } from '../src/config/setting.ts';
import { root } from './step.ts';

/** Values that make sense on a server where the default does not. */
const EXAMPLE_VALUES: Partial<Record<SettingKey, string>> = {
  docroot: '/srv/svc',
  state_dir: '/var/lib/svc',
};

const EXAMPLE_HEAD = `# Configuration of svc, for /etc/svc/config.yaml. Made by build/readme.ts.
#
# Every setting stands here with its default; remove the # in front of a key to change it. Relative paths start from the
# folder of this file. \`svc config\` shows what is in effect.
`;

/** The configuration table: one row for each setting. */
export function configurationTable(): string {
  const rows = settingKeys.map((key) => {
    const setting = settingAt(key);
    const name = setting.environmentOnly === undefined ? `\`${key}\`` : `\`${variableOf(key)}\``;
    const notes = [
      setting.summary,
      ...(setting.environmentOnly === undefined ? [] : ['Environment only.']),
      ...(setting.flag === undefined ? [] : [`Flag \`${flagOf(key)}\`.`]),
    ];
    return [
      name,
      setting.type,
      defaultOf(setting),
      allowed(setting),
      setting.live === true ? 'reload' : 'restart',
      notes.join(' '),
    ];
  });
  return table(['Key', 'Type', 'Default', 'Allowed', 'Change needs', 'Meaning'], rows);
}

/** The error table: one row for each code. */
export function errorTable(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, summary }]) => [
    `\`${code}\``,
    String(status),
    summary,
  ]);
  return table(['Code', 'Status', 'When'], rows);
}

/** A configuration file with every setting, commented out at its default. */
export function exampleConfig(): string {
  let text = EXAMPLE_HEAD;
  let section = '';
  for (const key of settingKeys) {
    const setting = settingAt(key);
    if (setting.environmentOnly !== undefined) continue;
    const names = key.split('.');
    const name = names.pop()!;
    const parent = names.join('.');
    const open = section.split('.');
    const common = names.findIndex((part, index) => open[index] !== part);
    if (common >= 0) {
      for (const [index, part] of names.entries()) {
        if (index >= common) text += `\n${'  '.repeat(index)}${part}:`;
      }
    }
    section = parent;
    const indent = '  '.repeat(names.length);
    text += `\n${indent}# ${setting.summary.replaceAll('`', '')}\n`;
    const facts = [allowed(setting), setting.live === true ? 'applied by a reload' : ''];
    const shown = facts.filter((fact) => fact !== '').join('; ');
    if (shown !== '') text += `${indent}# (${shown.replaceAll('`', '')})\n`;
    const value = EXAMPLE_VALUES[key] ?? yamlDefault(setting);
    text += `${indent}${key === 'docroot' ? '' : '#'}${name}: ${value}\n`;
  }
  return text;
}

/** `text` with the lines between `<!-- name:begin -->` and `<!-- name:end -->` replaced. */
export function withSection(text: string, name: string, content: string): string {
  const begin = `<!-- ${name}:begin -->`;
  const end = `<!-- ${name}:end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`there are no markers ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n${text.slice(to)}`;
}

/** README.md with its tables as they have to be. */
export function withTables(readme: string): string {
  return withSection(withSection(readme, 'config', configurationTable()), 'errors', errorTable());
}

function defaultOf(setting: Setting<unknown>): string {
  const { default: value, type, defaultText } = setting;
  if (defaultText !== undefined) return defaultText;
  if (value === null || value === '') return '';
  const shown = type === 'bytes' ? formatBytes(value as number) : value;
  return `\`${typeof shown === 'string' ? shown : JSON.stringify(shown)}\``;
}

function yamlDefault({ default: value, type }: Setting<unknown>): string {
  if (type === 'bytes') return formatBytes(value as number);
  return typeof value === 'string' && /^[a-z]\w*$/.test(value) ? value : JSON.stringify(value);
}

function allowed({ range, unit }: Setting<unknown>): string {
  return unit === undefined || unit === 'bytes' ? range : `${range} ${unit}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [head, head.map(() => '---'), ...rows].map(line).join('');
}

if (import.meta.main) {
  const readme = join(root, 'README.md');
  writeFileSync(readme, withTables(readFileSync(readme, 'utf8')));
  writeFileSync(join(root, 'systemd', 'svc.yaml'), exampleConfig());
}
