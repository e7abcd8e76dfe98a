/** Companions that the file system refuses: the dataset is read without them (DS-70). */
import { chmodSync } from 'node:fs';
import { expect, test } from 'bun:test';
import { docrootInPlace } from '../support/docroot-in-place.ts';

test.skipIf(process.getuid?.() === 0)(
  'a dataset is read with inferred types, and says which companion is refused (DS-70, DS-72)',
  async () => {
    const schema = '.svc/a.csv.schema.json';
    await using place = await docrootInPlace({
      'a.csv': 'n\n1\n',
      [schema]: '{"columns":{"n":{"type":"string"}}}',
    });
    chmodSync(place.folder.at(schema), 0o000);
    const { columns, head } = await place.table('a');
    expect(columns.map(({ type }) => type)).toEqual(['integer']);
    expect(head.companionProblem).toBe(`Cannot read '${schema}': permission denied`);
    chmodSync(place.folder.at(schema), 0o600);
    expect((await place.table('a')).columns.map(({ type }) => type)).toEqual(['string']);
  },
);
