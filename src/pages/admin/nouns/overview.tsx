/** @jsxImportSource @kitajs/html */
import { isStateHealthy } from '../../../api/health.ts';
import { version } from '../../../base/version.ts';
import { listAllApiKeys } from '../../../operations/accounts/api-keys.ts';
import { listGroups } from '../../../operations/accounts/groups.ts';
import { describeIngest, listRejects } from '../../../operations/events/ingest-settings.ts';
import { listPermissions } from '../../../operations/accounts/permissions.ts';
import { describeDocroot } from '../../../operations/files/resources.ts';
import { listUsers } from '../../../operations/accounts/users.ts';
import { Count, Fact, Size } from '../../parts/values.tsx';
import { adminPage } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';
import { listAllSessions } from '../../../operations/accounts/sessions.ts';
import { listLocks, describeIndex } from '../../../operations/upkeep.ts';

const SHOWN_PROBLEMS = 5;

const LISTS = [
  ['users', 'users', listUsers],
  ['groups', 'groups', listGroups],
  ['permissions', 'permissions', listPermissions],
  ['api-keys', 'API keys', listAllApiKeys],
  ['sessions', 'sessions', listAllSessions],
  ['locks', 'locks', listLocks],
] as const;

interface Overview {
  readonly figures: readonly {
    readonly label: string;
    readonly value: number;
    readonly href: string;
  }[];
  /** The first few broken files; `problemCount` counts all. */
  readonly problems: readonly { readonly rel: string; readonly problem: string }[];
  readonly problemCount: number;
  readonly isStateHealthy: boolean;
  readonly uptimeSeconds: number;
  readonly version: string;
  readonly searchDocuments: number;
  readonly searchPending: number;
  readonly ingest: {
    readonly queuedEvents: number;
    readonly queuedBytes: number;
    readonly commitsPerSecond: number;
    readonly rejected: number;
    readonly problem: string | null;
  };
}

export const overview = adminPage<Overview>({
  path: '',
  name: 'admin',
  summary: 'Show how everything is',
  title: 'Administration',
  read: async ({ services }, admin) => {
    const { resources } = describeDocroot(services, admin);
    const broken = resources.filter(({ problem }) => problem !== null);
    const ingest = await describeIngest(services);
    const index = describeIndex(services, admin);
    const query = new URLSearchParams({ limit: '1' });
    const figures = [
      { label: 'resources', value: resources.length, href: `${ADMIN_PAGES}/resources` },
    ];
    for (const [name, label, list] of LISTS) {
      const { total } = await list(services, admin, { query });
      figures.push({ label, value: total, href: `${ADMIN_PAGES}/${name}` });
    }
    return {
      figures,
      problems: broken
        .slice(0, SHOWN_PROBLEMS)
        .map(({ canonical, problem }) => ({ rel: canonical, problem: problem ?? '' })),
      problemCount: broken.length,
      isStateHealthy: await isStateHealthy(services),
      uptimeSeconds: (services.clock.monotonic() - services.startedAt) / 1000,
      version,
      searchDocuments: index.documents,
      searchPending: index.pending,
      ingest: {
        queuedEvents: ingest.queue.events,
        queuedBytes: ingest.queue.bytes,
        commitsPerSecond: ingest.commits.per_second,
        rejected: listRejects(services).length,
        problem: ingest.problem ?? null,
      },
    };
  },
  content: (data) => (
    <>
      <ul class="figures">
        {data.figures.map(({ label, value, href }) => (
          <li>
            <a {...{ href }}>
              <strong>
                <Count value={value} />
              </strong>{' '}
              <span safe>{label}</span>
            </a>
          </li>
        ))}
      </ul>
      <Health data={data} />
      <Problems data={data} />
      <section>
        <h2>What people ask for most</h2>
        <ul>
          <li>
            <a href={`${ADMIN_PAGES}/share`}>Give somebody access to a folder</a>, or first{' '}
            <a href={`${ADMIN_PAGES}/users?new=1`}>make an account</a> for somebody new.
          </li>
          <li>
            <a href={`${ADMIN_PAGES}/explain`}>
              Find out why somebody sees or does not see something
            </a>
            .
          </li>
          <li>
            <a href={`${ADMIN_PAGES}/audit`}>See who changed what</a>.
          </li>
        </ul>
      </section>
    </>
  ),
});

function Health({ data }: { data: Overview }) {
  const { ingest, searchPending: pending } = data;
  return (
    <section>
      <h2>Health</h2>
      <dl class="facts">
        <Fact name="State database">
          {data.isStateHealthy ? 'fine' : <strong class="bad">cannot be read and written</strong>}
        </Fact>
        <Fact name="Running for">
          <span safe>{durationText(data.uptimeSeconds)}</span>
        </Fact>
        <Fact name="Version">
          <span safe>{data.version}</span>
        </Fact>
        <Fact name="Search index">
          <Count value={data.searchDocuments} />{' '}
          {pending === 0 ? 'entries' : `entries, ${pending} resources wait to be read`}
        </Fact>
        <Fact name="Events in the queue">
          <Count value={ingest.queuedEvents} /> (<Size bytes={ingest.queuedBytes} />)
        </Fact>
        <Fact name="Event commits a second">
          <Count value={Number(ingest.commitsPerSecond.toFixed(1))} />
        </Fact>
        <Fact name="Events not stored">
          <a href={`${ADMIN_PAGES}/events`}>
            <Count value={ingest.rejected} />
          </a>
        </Fact>
      </dl>
      {ingest.problem !== null && (
        <p class="problem" safe>
          {`Events: ${ingest.problem}`}
        </p>
      )}
    </section>
  );
}

function Problems({ data: { problems, problemCount } }: { data: Overview }) {
  return (
    <section>
      <h2>Files with a problem</h2>
      {problemCount === 0 ? (
        <p class="empty">All files can be read.</p>
      ) : (
        <>
          <ul class="problems">
            {problems.map(({ rel, problem }) => (
              <li>
                <strong safe>{rel}</strong>
                <p class="problem" safe>
                  {problem}
                </p>
              </li>
            ))}
          </ul>
          <p>
            <a href={`${ADMIN_PAGES}/resources?state=broken`} safe>
              {problemCount === 1 ? 'See the file' : `All ${problemCount} of them`}
            </a>
          </p>
        </>
      )}
    </section>
  );
}

function durationText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2);
  return shown.map(([value, unit]) => `${value} ${unit}`).join(' ');
}
