/**
 * A dataset as a document, beside its rows: found by its name, its columns and the descriptions of its companion
 * schema.
 */
import { stemOf } from '../base/paths.ts';
import type { Table } from '../tables/copy/table.ts';
import type { DocumentEntry } from './index-writer.ts';
import type { PublishedResource } from './publisher.ts';

const MAX_DESCRIPTION_CHARACTERS = 20_000;

/** Title: the file's stem, or the sheet's name. */
export function datasetText(
  { rel, sheet }: Pick<PublishedResource, 'rel' | 'sheet'>,
  { head }: Table,
): DocumentEntry {
  const name = stemOf(rel.slice(rel.lastIndexOf('/') + 1));
  const columns = head.columns.map((column) => column.name).join(', ');
  const texts = [rel, columns, ...descriptions(head.companionSchema)];
  return { title: sheet ?? name, anchor: null, text: texts.join(' · ') };
}

function descriptions(schema: string | null): string[] {
  if (schema === null) return [];
  const found: string[] = [];
  try {
    JSON.parse(schema, (key, value: unknown) => {
      if ((key === 'description' || key === 'title') && typeof value === 'string') {
        found.push(value);
      }
      return value;
    });
  } catch {
    return [];
  }
  return found.map((text) => text.slice(0, MAX_DESCRIPTION_CHARACTERS));
}
