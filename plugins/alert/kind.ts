import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import type { Kind } from '../../src/docroot/kind.ts';

/** A search on a schedule with its condition, written in YAML. */
export const alert: Kind = {
  type: 'alert',
  family: 'content',
  extensions: ['.alert.yaml'],
  // Each version is read once, so that a broken one is listed with its reason.
  detection: {
    needsContent: () => true,
    isPublished: async (source, rel) => {
      await (await import('./read.ts')).readAlert(source, rel);
      return true;
    },
  },
  alert: async (source, rel) => (await import('./read.ts')).readAlert(source, rel),
  sections: async (source, { rel }) => {
    const { definition } = await (await import('./read.ts')).readAlert(source, rel);
    const { title, description, query, savedsearch } = definition;
    const text = [description, query, savedsearch].filter(Boolean).join(' ');
    return [{ title: title || fileNameOf(stemOf(rel)), anchor: null, text }];
  },
};
