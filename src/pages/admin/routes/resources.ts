import { describeDocroot } from '../../../operations/resources.ts';
import { describeIndex, startRebuild, stopRebuild } from '../../../operations/search-index.ts';
import { pageAddress } from '../../../docroot/registry/addresses.ts';
import type { Resource } from '../../../docroot/registry/registry.ts';
import { kindName, TYPE_NAMES } from '../../kind-names.ts';
import { type ResourceRow, resourcesPage } from '../resources.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxHolds, boxValue, sliceListing } from './page-list.ts';

export const resourcesRoute: Route = adminPageRoute({
  path: 'resources',
  summary: 'Show the resources and the search index',
  page: resourcesPage,
  read: async (context, admin) => {
    const { services } = context;
    const { resources, unpublished } = describeDocroot(services, admin);
    const inFile = boxHolds(context, 'file');
    const q = boxValue(context, 'q').toLowerCase();
    const [type, state] = [boxValue(context, 'type'), boxValue(context, 'state')];
    const rows = resources
      .filter((one) => `${one.canonical}\n${one.rel}`.toLowerCase().includes(q))
      .filter((one) => type === '' || one.type === type)
      .filter((one) => state !== 'broken' || one.problem !== null)
      .map((one): ResourceRow => ({
        name: one.canonical,
        rel: one.rel,
        kind: kindName(one),
        href: pageAddress(one, one.canonical),
        problem: one.problem,
      }));
    return {
      listing: sliceListing(context, rows, {
        boxes: ['q', 'type', 'state'],
        sortBy: { name: ({ name }) => name, type: ({ kind }) => kind },
      }),
      types: typeChoices(resources),
      unpublished: sliceListing(
        context,
        unpublished.filter((one) => inFile(one.rel, one.text)),
        { part: 'unpublished', boxes: ['file'], sortBy: { rel: (one) => one.rel } },
      ),
      index: describeIndex(services, admin),
    };
  },
  actions: {
    'update-index': {
      done: 'What changed is being read.',
      run: async ({ services, admin }) => startRebuild(services, admin, false),
    },
    'rebuild-index': {
      done: 'Everything is being read again.',
      asks: async ({ services, admin }) => ({
        title: 'Read everything into the search index again?',
        effects: [
          `${describeDocroot(services, admin).resources.length} resources are read, which may take minutes for large ones.`,
          'Searches go on meanwhile, and you can stop it.',
        ],
        button: 'Read everything again',
      }),
      run: async ({ services, admin }) => startRebuild(services, admin, true),
    },
    'stop-rebuild': {
      done: 'It stops as soon as what is being read is read.',
      run: async ({ services, admin }) => stopRebuild(services, admin),
    },
  },
});

function typeChoices(
  resources: readonly Pick<Resource, 'type'>[],
): readonly (readonly [type: string, name: string])[] {
  const present = new Set(resources.map(({ type }) => type));
  return [...present]
    .map((type) => [type, TYPE_NAMES[type]] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
}
