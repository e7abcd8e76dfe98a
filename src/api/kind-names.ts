/**
 * Kinds of resources for people: the format where the file is known by it, else what it does. API and settings name types.
 */
import { extensionOf } from '../base/paths.ts';
import type { ResourceType } from '../docroot/kind.ts';

/** For a choice of types. */
export const TYPE_NAMES: Readonly<Record<ResourceType, string>> = {
  csv: 'CSV',
  excel: 'Excel',
  parquet: 'Parquet',
  json: 'JSON',
  sqlite: 'SQLite',
  dbf: 'dBASE',
  markdown: 'Markdown',
  html: 'HTML',
  dashboard: 'Dashboard',
  alert: 'Alert',
  media: 'Media',
  handler: 'Program',
  file: 'Other file',
};

/** For a choice of groups. */
export const TYPE_GROUPS: readonly (readonly [name: string, types: readonly ResourceType[]])[] = [
  ['Tables', ['csv', 'excel', 'parquet', 'json', 'sqlite', 'dbf']],
  ['Dashboards', ['dashboard']],
  ['Alerts', ['alert']],
  ['Documents', ['markdown', 'html']],
  ['Files', ['file']],
  ['Media', ['media']],
  ['Programs', ['handler']],
];

const CALLED_BY_TYPE: ReadonlySet<ResourceType> = new Set([
  'excel',
  'parquet',
  'sqlite',
  'markdown',
  'html',
  'dashboard',
  'alert',
  'handler',
]);

/** `CSV`, `Excel`, `PDF`, `Program`. */
export function kindName({
  type,
  rel,
}: {
  readonly type: ResourceType;
  /** In the document root. */
  readonly rel: string;
}): string {
  const extension = extensionOf(rel).slice(1);
  const isOther = type === 'excel' && /ods$/.test(extension);
  if ((CALLED_BY_TYPE.has(type) && !isOther) || extension === '') return TYPE_NAMES[type];
  return extension.toUpperCase();
}
