/**
 * What people read for the kind of a resource, the same words on every page: the format of a file where that is what it is
 * known by, else what it does. The API and the settings name types instead.
 */
import { extensionOf } from '../base/paths.ts';
import type { ResourceType } from '../docroot/kind.ts';

/** A type where no single file is meant, such as in a choice. */
export const TYPE_NAMES: Readonly<Record<ResourceType, string>> = {
  csv: 'CSV',
  excel: 'Excel',
  parquet: 'Parquet',
  json: 'JSON',
  sqlite: 'SQLite',
  dbf: 'dBASE',
  markdown: 'Markdown',
  html: 'HTML',
  media: 'Media',
  handler: 'Program',
  file: 'Other file',
};

/** Types that belong together, by what they are called as a choice of many. */
export const TYPE_GROUPS: readonly (readonly [name: string, types: readonly ResourceType[]])[] = [
  ['Tables', ['csv', 'excel', 'parquet', 'json', 'sqlite', 'dbf']],
  ['Documents', ['markdown', 'html']],
  ['Files', ['file']],
  ['Media', ['media']],
  ['Programs', ['handler']],
];

/** Types that hold files of one format, or of many that are used alike. */
const CALLED_BY_TYPE: ReadonlySet<ResourceType> = new Set([
  'excel',
  'parquet',
  'sqlite',
  'markdown',
  'html',
  'handler',
]);

/** The kind of one resource: `CSV`, `Excel`, `PDF`, `Program`. */
export function kindName({
  type,
  rel,
}: {
  readonly type: ResourceType;
  /** Path of the file in the document root. */
  readonly rel: string;
}): string {
  const extension = extensionOf(rel).slice(1);
  const isOther = type === 'excel' && /ods$/.test(extension);
  if ((CALLED_BY_TYPE.has(type) && !isOther) || extension === '') return TYPE_NAMES[type];
  return extension.toUpperCase();
}
