/** @jsxImportSource @kitajs/html */
import { Size } from '../parts/size.tsx';
import { Count } from '../parts/count.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';

export interface Figure {
  readonly label: string;
  readonly value: number;
  readonly href: string;
}

interface OverviewData {
  readonly figures: readonly Figure[];
  /** The first few broken files; `problemCount` counts all. */
  readonly problems: readonly { readonly rel: string; readonly problem: string }[];
  readonly problemCount: number;
  readonly isStateSound: boolean;
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

export const overviewPage = adminPage<OverviewData>({
  name: 'admin',
  title: () => 'Administration',
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

function Health({ data }: { data: OverviewData }) {
  const { ingest } = data;
  return (
    <section>
      <h2>Health</h2>
      <dl class="facts">
        <div>
          <dt>State database</dt>
          <dd>
            {data.isStateSound ? 'fine' : <strong class="bad">cannot be read and written</strong>}
          </dd>
        </div>
        <div>
          <dt>Running for</dt>
          <dd safe>{durationText(data.uptimeSeconds)}</dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd safe>{data.version}</dd>
        </div>
        <div>
          <dt>Search index</dt>
          <dd>
            <Count value={data.searchDocuments} />{' '}
            <span safe>{pendingText(data.searchPending)}</span>
          </dd>
        </div>
        <div>
          <dt>Events in the queue</dt>
          <dd>
            <Count value={ingest.queuedEvents} /> (<Size bytes={ingest.queuedBytes} />)
          </dd>
        </div>
        <div>
          <dt>Event commits a second</dt>
          <dd>
            <Count value={Number(ingest.commitsPerSecond.toFixed(1))} />
          </dd>
        </div>
        <div>
          <dt>Events not stored</dt>
          <dd>
            <a href={`${ADMIN_PAGES}/events`}>
              <Count value={ingest.rejected} />
            </a>
          </dd>
        </div>
      </dl>
      {ingest.problem === null ? (
        ''
      ) : (
        <p class="problem" safe>
          {`Events: ${ingest.problem}`}
        </p>
      )}
    </section>
  );
}

function Problems({ data: { problems, problemCount } }: { data: OverviewData }) {
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

function pendingText(pending: number): string {
  return pending === 0 ? 'entries' : `entries, ${pending} resources wait to be read`;
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
