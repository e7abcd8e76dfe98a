import {
  COMPRESSED_IS_READ_ONLY,
  isCompressed,
  withCompressed,
} from '../../src/base/files/compressed-file.ts';
import { extensionOf } from '../../src/base/paths.ts';
import type { Kind } from '../../src/docroot/kind.ts';

/** Rows of JSON: lines of objects, and files with a list of them. Other JSON is a file like any other. */
export const json: Kind = {
  type: 'json',
  family: 'dataset',
  extensions: [...withCompressed(['.ndjson', '.jsonl']), '.json', '.geojson'],
  detection: {
    needsContent: (rel) => /^\.(?:geo)?json$/.test(extensionOf(rel)),
    isPublished: async (source, _rel, options) =>
      (await import('./shape.ts')).hasRows(source, options),
  },
  dataset: {
    hasNull: true,
    readOnlyReason: (rel) => (isCompressed(rel) ? COMPRESSED_IS_READ_ONLY : null),
    read: async (source, options, sink) =>
      (await import('./reader.ts')).readJson(source, options, sink),
    edit: async (source, layout, changes) =>
      (await import('./editor.ts')).editJson(source, layout, changes),
  },
};
