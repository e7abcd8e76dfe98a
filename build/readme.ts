/**
 * The parts of the documentation that follow from the source: tables of the chapters under docs/, and systemd/svc.yaml.
 *
 * `bun build/readme.ts` rewrites them; test/readme.test.ts fails while they differ from what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCatalogue } from '../src/base/errors.ts';
import { flagOf, settingAt, settingKeys, variableOf } from '../src/config/settings.ts';
import type { SettingKey } from '../src/config/settings.ts';
import { formatBytes } from '../src/config/setting.ts';
import type { Setting } from '../src/config/setting.ts';
import { MAX_PASSWORD_LENGTH } from '../src/accounts/identity/passwords.ts';
import { MAX_XLSX_ROWS } from '../src/tables/encode/encode-xlsx.ts';
import { MAX_CELL_TEXT } from '../src/tables/encode/sheet-text.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../src/tables/limits.ts';
import { MAX_RENDER_BYTES } from '../src/docroot/documents.ts';
import { PAGE_MS, SECTIONS_MS } from '../src/docroot/parsing/parse-workers.ts';
import { MAX_RESULTS } from '../src/operations/files/search.ts';
import { MAX_BUCKETS, MAX_GROUPS, MAX_QUERY_BYTES, MAX_STAGES } from '../src/language/limits.ts';
import { MAX_ANONYMOUS_BYTES, MAX_JSON_BYTES, MAX_ROW_VALUES } from '../src/http/context.ts';
import { JSON_BOUNDS } from '../src/base/json/json-outline.ts';
import { MAX_EVENT_VALUES } from '../src/events/intake/json-text.ts';
import { MAX_NUMBER_LENGTH } from '../src/base/json/json.ts';
import { MAX_ISSUES } from '../src/base/errors.ts';
import { MAX_CHANGED_ROWS } from '../src/tables/edit/change-request.ts';
import {
  MAX_CELLS as MAX_PAGE_CELLS,
  MAX_CONDITIONS,
  MAX_KEPT,
} from '../src/pages/files/dataset.ts';
import { MAX_LINK_CHARACTERS } from '../src/http/link-query.ts';
import { MAX_FORM_BYTES } from '../src/http/body/form-body.ts';
import { MAX_MESSAGE_BYTES } from '../src/mcp/route.ts';
import { MAX_ROW_BYTES } from '../plugins/csv/text-window.ts';
import { MAX_OBJECT_BYTES } from '../plugins/json/shape.ts';
import { MAX_CELLS, MAX_FORMULAS, MAX_SHEETS } from '../plugins/workbook/limits.ts';
import { SPL_PAIRS } from '../src/api/spl-pairs.ts';
import { root } from './step.ts';

/** Values that make sense on a server where the default does not. */
const EXAMPLE_VALUES: Partial<Record<SettingKey, string>> = {
  docroot: '/srv/svc',
  state_dir: '/var/lib/svc',
};

/** Settings that bound something somebody could send, ask or store. */
const LIMIT_SETTINGS =
  /^(?:limits\.|locks\.|upload\.max|search\.max|events\.(?:limits\.|throttle\.|queue|search\.(?!implicit|audit)|tail_per|explore|min_free|idempotency))/;

const count = (value: number): string => value.toLocaleString('en').replaceAll(',', ' ');
const size = (value: number): string => `\`${formatBytes(value)}\``;

/** Bounds without a setting, from where they are enforced. */
const FIXED_LIMITS: readonly (readonly string[])[] = [
  ['Columns of a table.', count(MAX_COLUMNS), ''],
  ['Characters of one cell.', count(MAX_CELL_CHARACTERS), ''],
  ['Bytes of one row of a CSV or JSON file.', size(MAX_ROW_BYTES), ''],
  [
    'Bytes of a JSON file that is one object; lists and lines may be longer.',
    size(MAX_OBJECT_BYTES),
    '',
  ],
  ['Worksheets of a workbook.', count(MAX_SHEETS), ''],
  ['Cells of a worksheet that are read.', count(MAX_CELLS), ''],
  [
    'Formulas of a workbook that follow an edit; of more, all results are taken out of the file.',
    count(MAX_FORMULAS),
    '',
  ],
  ['Rows of an answer as XLSX.', count(MAX_XLSX_ROWS), ''],
  ['Characters of a cell of it; a longer text is cut and says so.', count(MAX_CELL_TEXT), ''],
  ['Bytes of a document that is rendered as a page.', size(MAX_RENDER_BYTES), ''],
  [
    'Processor time to make a page of a document, or to learn what a media file says about itself.',
    `${PAGE_MS / 1000} seconds`,
    '',
  ],
  [
    'Processor time to prepare a document for the search; after that its bare text is searched.',
    `${SECTIONS_MS / 1000} seconds`,
    '',
  ],
  ['Characters of an address that the links of its page carry.', count(MAX_LINK_CHARACTERS), ''],
  ['The same on the page of a dataset.', count(MAX_KEPT), ''],
  ['Conditions of a filter that the page of a dataset tells in words.', count(MAX_CONDITIONS), ''],
  ['Cells on the page of a dataset; the grid loads more.', count(MAX_PAGE_CELLS), ''],
  ['Results of one request to the search box.', count(MAX_RESULTS), ''],
  ['Bytes of a query of the search language.', size(MAX_QUERY_BYTES), ''],
  ['Stages of a query.', count(MAX_STAGES), ''],
  ['Groups of one `stats`.', count(MAX_GROUPS), ''],
  ['Buckets of one `timechart`.', count(MAX_BUCKETS), ''],
  ['Bytes of a message to `/mcp`.', size(MAX_MESSAGE_BYTES), ''],
  ['Bytes of a body without a credential.', size(MAX_ANONYMOUS_BYTES), ''],
  ['Bytes of other JSON bodies than changes of rows and events.', size(MAX_JSON_BYTES), ''],
  ['Values in a JSON body; a change of rows may hold more.', count(JSON_BOUNDS.values), ''],
  ['Values of one event, members and elements of its fields counted.', count(MAX_EVENT_VALUES), ''],
  ['Values in a change of rows.', count(MAX_ROW_VALUES), ''],
  ['Rows one request creates.', count(MAX_CHANGED_ROWS), ''],
  ['Problems of a request that its answer tells.', count(MAX_ISSUES), ''],
  ['Characters of a number in JSON.', count(MAX_NUMBER_LENGTH), ''],
  ['Bytes of a form.', size(MAX_FORM_BYTES), ''],
  ['Characters of a password.', count(MAX_PASSWORD_LENGTH), ''],
];

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

/** The cheat sheet for people who know SPL: what is written in another way, row by row. */
function splTable(): string {
  const code = (query: string): string => `\`${query}\``;
  const rows = SPL_PAIRS.map(([spl, ours]) => [code(spl), spl === ours ? 'the same' : code(ours)]);
  return table(['SPL', 'here'], rows);
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

/** The limits table: settings that are limits, and the bounds that no setting moves. */
function limitsTable(): string {
  const settingsRows = settingKeys
    .filter((key) => LIMIT_SETTINGS.test(key))
    .map((key) => [settingAt(key).summary, limitDefault(settingAt(key)), `\`${key}\``]);
  return table(['Limit', 'Default', 'Setting'], [...settingsRows, ...FIXED_LIMITS]);
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
    // Commands of an operator must find the folder that the unit names.
    text += `${indent}${key in EXAMPLE_VALUES ? '' : '#'}${name}: ${value}\n`;
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

/** A document with those of the tables that it has markers for. */
export function withTables(text: string): string {
  const tables = {
    config: configurationTable,
    limits: limitsTable,
    errors: errorTable,
    spl: splTable,
  };
  return Object.entries(tables).reduce(
    (done, [name, make]) =>
      done.includes(`<!-- ${name}:begin -->`) ? withSection(done, name, make()) : done,
    text,
  );
}

/** The documents people read, relative to the project: README.md and the chapters of the guide. */
export function documents(): string[] {
  return ['README.md', ...[...new Bun.Glob('docs/*.md').scanSync({ cwd: root })].sort()];
}

function defaultOf(setting: Setting<unknown>): string {
  const { default: value, type, defaultText } = setting;
  if (defaultText !== undefined) return defaultText;
  if (value === null || value === '') return '';
  const shown = type === 'bytes' ? formatBytes(value as number) : value;
  return `\`${typeof shown === 'string' ? shown : JSON.stringify(shown)}\``;
}

function limitDefault(setting: Setting<unknown>): string {
  const shown = defaultOf(setting);
  if (shown === '') return 'none';
  return setting.unit === undefined || setting.unit === 'bytes'
    ? shown
    : `${shown} ${setting.unit}`;
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
  for (const name of documents()) {
    const file = join(root, name);
    writeFileSync(file, withTables(readFileSync(file, 'utf8')));
  }
  writeFileSync(join(root, 'systemd', 'svc.yaml'), exampleConfig());
}
