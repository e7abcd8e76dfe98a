import type { FileSource } from '../../src/base/files/file-source.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import type { DocumentOrder, Kind, SearchSection } from '../../src/docroot/kind.ts';

/** Panels over searches and datasets, written in YAML. */
export const dashboard: Kind = {
  type: 'dashboard',
  family: 'content',
  extensions: ['.dashboard.yaml'],
  // Each version is read once, so that a broken one is listed with its reason.
  detection: {
    needsContent: () => true,
    isPublished: async (source, rel) => {
      await (await import('./read.ts')).readDashboard(source, rel);
      return true;
    },
  },
  dashboard: {
    read: async (source, rel) => (await import('./read.ts')).readDashboard(source, rel),
    patch: async (source, rel, patch) =>
      (await import('./patch.ts')).patchDashboard(source, rel, patch),
  },
  sections: dashboardSections,
};

/** Titles and texts; queries are found as well, because people look for a field they know. */
async function dashboardSections(
  source: FileSource,
  { rel }: DocumentOrder,
): Promise<SearchSection[]> {
  const { title, description, rows } = await (await import('./read.ts')).readDashboard(source, rel);
  const words = rows.flatMap((row) => [
    row.title,
    ...row.panels.flatMap((panel) => [
      panel.title,
      panel.text,
      panel.query,
      panel.savedsearch,
      panel.dataset,
    ]),
  ]);
  const text = [description, ...words].filter(Boolean).join(' ');
  return [{ title: title || fileNameOf(stemOf(rel)), anchor: null, text }];
}
