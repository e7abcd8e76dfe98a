/** @jsxImportSource @kitajs/html */
import { pageAddress } from '../../../docroot/registry/addresses.ts';
import { describeDocroot } from '../../../operations/files/resources.ts';
import { kindName, TYPE_NAMES } from '../../../api/kind-names.ts';
import { Count } from '../../parts/values.tsx';
import { cell, text } from '../../parts/cells.tsx';
import { act, acts, audit, auditLink, Moment, whoMayLink } from '../cells.tsx';
import {
  boxHolds,
  boxValue,
  type Filter,
  List,
  type Listing,
  sliceListing,
  type Table,
} from '../list.tsx';
import { Act, adminPage, type Surroundings } from '../page.tsx';
import {
  describeIndex,
  type SearchIndexView,
  startRebuild,
  stopRebuild,
} from '../../../operations/upkeep.ts';

interface Resource {
  readonly name: string;
  readonly rel: string;
  readonly kind: string;
  readonly href: string;
  readonly problem: string | null;
}

interface Unpublished {
  readonly rel: string;
  readonly text: string;
}

interface ResourcesData {
  readonly listing: Listing<Resource>;
  readonly types: NonNullable<Filter['choices']>;
  readonly unpublished: Listing<Unpublished>;
  readonly index: SearchIndexView;
}

const tableOf = (types: NonNullable<Filter['choices']>): Table<Resource> => ({
  nouns: ['resource', 'resources'],
  filters: [
    { name: 'q', label: 'Name contains' },
    { name: 'type', label: 'Kind', choices: [['', 'All'], ...types] },
    {
      name: 'state',
      label: 'State',
      choices: [
        ['', 'All'],
        ['broken', 'With a problem'],
      ],
    },
  ],
  empty: 'The document root holds nothing that is published.',
  wayOn: { label: 'What is published', href: '/docs/guide/files' },
  columns: [
    cell(
      'Name',
      ({ name, href, problem }) => (
        <>
          <a {...{ href }} safe>
            {name}
          </a>
          {problem !== null && (
            <p class="problem" safe>
              {problem}
            </p>
          )}
        </>
      ),
      'name',
    ),
    cell(
      'Kind',
      ({ kind }) => (
        <span class="kind" safe>
          {kind}
        </span>
      ),
      'type',
    ),
    acts(({ name, rel }) => [
      whoMayLink({ action: 'read', resource: name }),
      auditLink({ q: rel }, rel),
    ]),
  ],
});

const unpublishedTable: Table<Unpublished> = {
  nouns: ['file', 'files'],
  filters: [{ name: 'file', label: 'File or reason contains' }],
  empty: 'Everything is published.',
  columns: [
    text('File', ({ rel }) => rel),
    text('Why', 'text'),
    audit(({ rel }) => [{ q: rel }, rel]),
  ],
};

export const resources = adminPage<ResourcesData>({
  path: 'resources',
  summary: 'Show the resources and the search index',
  title: 'Resources',
  read: async (context, admin) => {
    const { services } = context;
    const docroot = describeDocroot(services, admin);
    const inFile = boxHolds(context, 'file');
    const q = boxValue(context, 'q').toLowerCase();
    const [type, state] = [boxValue(context, 'type'), boxValue(context, 'state')];
    const rows = docroot.resources
      .filter((one) => `${one.canonical}\n${one.rel}`.toLowerCase().includes(q))
      .filter((one) => type === '' || one.type === type)
      .filter((one) => state !== 'broken' || one.problem !== null)
      .map((one) => ({
        name: one.canonical,
        rel: one.rel,
        kind: kindName(one),
        href: pageAddress(one, one.canonical),
        problem: one.problem,
      }));
    const types = [...new Set(docroot.resources.map((one) => one.type))]
      .map((one) => [one, TYPE_NAMES[one]] as const)
      .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
    return {
      listing: sliceListing(context, tableOf(types), rows, {
        sortBy: { name: ({ name }) => name, type: ({ kind }) => kind },
      }),
      types,
      unpublished: sliceListing(
        context,
        unpublishedTable,
        docroot.unpublished.filter((one) => inFile(one.rel, one.text)),
        { part: 'unpublished', sortBy: { rel: (one) => one.rel } },
      ),
      index: describeIndex(services, admin),
    };
  },
  content: ({ listing, types, unpublished, index }, around) => (
    <>
      <List table={tableOf(types)} listing={listing} around={around} />
      {(unpublished.total > 0 || unpublished.clearHref !== null) && (
        <section>
          <h2>Not published</h2>
          <List table={unpublishedTable} listing={unpublished} around={around} />
        </section>
      )}
      <Index index={index} {...around} />
    </>
  ),
  actions: {
    'update-index': {
      done: 'What changed is being read.',
      run: async ({ services, admin }) => startRebuild(services, admin, false),
    },
    'rebuild-index': {
      done: 'Everything is being read again.',
      asks: ({ services, admin }) => ({
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

function Index({ index, ...around }: Surroundings & { index: SearchIndexView }) {
  const isRunning = index.rebuild !== null && index.rebuild.endedAt === null;
  const onIndex = { ...around, about: 'into the index', asks: false };
  return (
    <section id="index" data-poll={isRunning || index.pending > 0 ? '' : undefined}>
      <h2>Search index</h2>
      <p>
        <Count value={index.documents} /> entries can be found
        {index.pending > 0 && (
          <>
            ; <Count value={index.pending} /> resources wait to be read
          </>
        )}
        .
      </p>
      <Rebuild rebuild={index.rebuild} />
      {isRunning ? (
        <div class="acts">
          <a class="button quiet small" href={around.state.address}>
            How far is it?
          </a>
          <Act {...onIndex} action="stop-rebuild" label="Stop" about="the rebuild" />
        </div>
      ) : (
        <div class="acts">
          <Act {...onIndex} action="update-index" label="Read what changed" />
          {act(around, 'rebuild-index', 'Read everything again', onIndex.about)}
        </div>
      )}
    </section>
  );
}

function Rebuild({ rebuild }: { rebuild: SearchIndexView['rebuild'] }) {
  if (rebuild === null) return '';
  const { done, total, endedAt } = rebuild;
  if (endedAt === null) {
    return (
      <p role="status">
        <progress
          max={String(Math.max(1, total))}
          value={String(done)}
          aria-label="Progress of the index"
        ></progress>
        <span safe>{`${done} of ${total === 0 ? 'all' : total} resources are read.`}</span>
      </p>
    );
  }
  return (
    <p class="fine" role="status">
      <span safe>{endText(rebuild)}</span> <Moment at={endedAt} />
    </p>
  );
}

function endText({ counts, problem, isStopped }: NonNullable<SearchIndexView['rebuild']>): string {
  if (problem !== null || counts === null) return `It was not finished: ${problem ?? 'unknown'}.`;
  const { indexed, skipped, pruned } = counts;
  const how = isStopped ? 'It was stopped' : 'Finished';
  return `${how}: ${indexed} read, ${skipped} were as before, ${pruned} forgotten.`;
}
