/** @jsxImportSource @kitajs/html */
import type { SearchIndexView } from '../../operations/search-index.ts';
import { Count } from '../parts/count.tsx';
import { Moment, AuditLink } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { FilterBox, FilterForm, FilterChoice, type Listing, ListTable } from './listing.tsx';

export interface ResourceRow {
  readonly name: string;
  readonly rel: string;
  readonly kind: string;
  readonly href: string;
  readonly problem: string | null;
}

interface ResourcesData {
  readonly listing: Listing<ResourceRow>;
  readonly types: readonly (readonly [type: string, name: string])[];
  readonly unpublished: Listing<{ readonly rel: string; readonly text: string }>;
  readonly index: SearchIndexView;
}

export const resourcesPage = adminPage<ResourcesData>({
  name: 'admin-resources',
  title: () => 'Resources',
  content: ({ listing, types, unpublished, index }, around) => (
    <>
      <FilterForm path={`${ADMIN_PAGES}/resources`} listing={listing}>
        <FilterBox name="q" label="Name contains" listing={listing} />
        <FilterChoice
          name="type"
          label="Kind"
          listing={listing}
          choices={[['', 'All'], ...types]}
        />
        <FilterChoice
          name="state"
          label="State"
          listing={listing}
          choices={[
            ['', 'All'],
            ['broken', 'With a problem'],
          ]}
        />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['resource', 'resources']}
        empty="The document root holds nothing that is published."
        wayOn={{ label: 'What is published', href: '/docs/guide/files' }}
        columns={[
          { label: 'Name', sort: 'name' },
          { label: 'Kind', sort: 'type' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((resource) => (
          <Resource resource={resource} />
        ))}
      </ListTable>
      {unpublished.total === 0 && unpublished.clearHref === null ? (
        ''
      ) : (
        <Unpublished files={unpublished} />
      )}
      <Index index={index} {...around} />
    </>
  ),
});

function Resource({ resource }: { resource: ResourceRow }) {
  const { name, rel, kind, href, problem } = resource;
  const who = new URLSearchParams({ resource: name, right: 'read' });
  return (
    <tr>
      <td>
        <a {...{ href }} safe>
          {name}
        </a>
        {problem === null ? (
          ''
        ) : (
          <p class="problem" safe>
            {problem}
          </p>
        )}
      </td>
      <td>
        <span class="kind" safe>
          {kind}
        </span>
      </td>
      <td class="acts">
        <a href={`${ADMIN_PAGES}/explain?${who}`} aria-label={`Who may read ${name}?`}>
          Who may?
        </a>
        <AuditLink query={{ q: rel }} about={rel} />
      </td>
    </tr>
  );
}

function Unpublished({ files }: Readonly<Record<'files', ResourcesData['unpublished']>>) {
  return (
    <section>
      <h2>Not published</h2>
      <FilterForm path={`${ADMIN_PAGES}/resources`} listing={files}>
        <FilterBox name="file" label="File or reason contains" listing={files} />
      </FilterForm>
      <ListTable
        listing={files}
        nouns={['file', 'files']}
        empty="Everything is published."
        columns={[{ label: 'File' }, { label: 'Why' }, { label: 'Audit', isHidden: true }]}
      >
        {files.items.map(({ rel, text }) => (
          <tr>
            <td safe>{rel}</td>
            <td safe>{text}</td>
            <td>
              <AuditLink query={{ q: rel }} about={rel} />
            </td>
          </tr>
        ))}
      </ListTable>
    </section>
  );
}

function Index({ index, state, frame }: Surroundings & { index: SearchIndexView }) {
  const around = { state, frame };
  const isRunning = index.rebuild !== null && index.rebuild.endedAt === null;
  return (
    <section id="index" data-poll={isRunning || index.pending > 0 ? '' : undefined}>
      <h2>Search index</h2>
      <p>
        <Count value={index.documents} /> entries can be found
        {index.pending > 0 ? (
          <>
            ; <Count value={index.pending} /> resources wait to be read
          </>
        ) : (
          ''
        )}
        .
      </p>
      <Rebuild rebuild={index.rebuild} />
      <div class="acts">
        {isRunning ? (
          <>
            <a class="button quiet small" href={state.address}>
              How far is it?
            </a>
            <Act {...around} action="stop-rebuild" label="Stop" about="the rebuild" fields={{}} />
          </>
        ) : (
          <>
            <Act
              {...around}
              action="update-index"
              label="Read what changed"
              about="into the index"
              fields={{}}
            />
            <Act
              {...around}
              action="rebuild-index"
              label="Read everything again"
              about="into the index"
              fields={{}}
              asks
            />
          </>
        )}
      </div>
    </section>
  );
}

function Rebuild({ rebuild }: { rebuild: SearchIndexView['rebuild'] }) {
  if (rebuild === null) return '';
  const { done, total, endedAt, counts, problem, isStopped } = rebuild;
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
      <span safe>{endText(counts, problem, isStopped)}</span> <Moment at={endedAt} />
    </p>
  );
}

function endText(
  counts: { readonly indexed: number; readonly skipped: number; readonly pruned: number } | null,
  problem: string | null,
  isStopped: boolean,
): string {
  if (problem !== null || counts === null) return `It was not finished: ${problem ?? 'unknown'}.`;
  const { indexed, skipped, pruned } = counts;
  const how = isStopped ? 'It was stopped' : 'Finished';
  return `${how}: ${indexed} read, ${skipped} were as before, ${pruned} forgotten.`;
}
