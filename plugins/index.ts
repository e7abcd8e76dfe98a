import type { Kind } from '../src/docroot/kind.ts';
import { alert } from './alert/kind.ts';
import { csv } from './csv/kind.ts';
import { dashboard } from './dashboard/kind.ts';
import { dbf } from './dbf/kind.ts';
import { file } from './file/kind.ts';
import { handler } from './handler/kind.ts';
import { html } from './html/kind.ts';
import { json } from './json/kind.ts';
import { markdown } from './markdown/kind.ts';
import { media } from './media/kind.ts';
import { parquet } from './parquet/kind.ts';
import { sqlite } from './sqlite/kind.ts';
import { workbook } from './workbook/kind.ts';

/** In no particular order. Static imports, because only those enter the executable. */
export const kinds: readonly Kind[] = [
  csv,
  workbook,
  parquet,
  { ...json, otherwise: file },
  sqlite,
  dbf,
  handler,
  html,
  markdown,
  dashboard,
  alert,
  file,
  media,
];
