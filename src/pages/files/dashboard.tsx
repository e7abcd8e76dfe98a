/** @jsxImportSource @kitajs/html */
/**
 * A dashboard. Its script runs the panels with the rights of the reader and draws them; without script the page has its
 * texts, and links that lead to what the panels show.
 */
import { encodePath } from '../../base/paths.ts';
import { COLORS, type DashboardPanel, FORMS, REFRESHES } from '../../docroot/dashboard.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { readDashboard, type ShownDashboard } from '../../operations/files/dashboards.ts';
import { addressWith, trailTo } from '../addresses.ts';
import type { Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { SPANS } from '../events/time-picker.tsx';
import { datasetAddress } from '../events/explorer-state.ts';
import { resolveLinks } from './document-links.ts';

/** Throws `unreadable-file` with the line of what is wrong. */
export async function dashboardReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  const shown = await readDashboard(services, context.user, resource);
  const place = {
    path: context.path,
    rel: resource.rel,
    familyOf: (rel: string) => services.documents.familyOf(rel),
  };
  const texts = Object.entries(shown.texts).map(([key, html]) => [key, resolveLinks(html, place)]);
  const view = { ...shown, texts: Object.fromEntries(texts) as Record<string, string> };
  return pageReply(context, dashboardPage, view);
}

export const dashboardPage: Page<ShownDashboard> = {
  name: 'dashboard',
  layout: 'wide',
  title: ({ dashboard }) => dashboard.title,
  styles: ['uplot.css', 'charts.css', 'document.css', 'dashboard.css'],
  scripts: ['dashboard.js'],
  trail: ({ resource }) => trailTo(resource),
  shares: ({ resource }) => resource,
  content: (view) => {
    const { dashboard, resource } = view;
    return (
      <div
        id="dashboard"
        class="dashboard"
        data-shown={JSON.stringify(view)}
        data-choices={JSON.stringify({ forms: FORMS, colors: COLORS })}
      >
        {dashboard.description !== undefined && (
          <p class="fine" safe>
            {dashboard.description}
          </p>
        )}
        <Bar view={view} />
        <p class="notice" id="dashboard-note" role="status" hidden></p>
        <div id="panels">
          {dashboard.rows.map((row, index) => (
            <section>
              {row.title !== undefined && <h2 safe>{row.title}</h2>}
              {row.panels.map((panel, at) => (
                <PlainPanel view={view} panel={panel} place={`${index}/${at}`} />
              ))}
            </section>
          ))}
        </div>
        <p class="fine">
          <a href={`/${encodePath(resource)}`}>The file of this dashboard</a>
          {view.may_write && (
            <>
              {' · '}
              <a href={`/ui/${encodePath(view.file_name)}?history=1`}>History</a>
            </>
          )}
        </p>
      </div>
    );
  },
};

function Bar({ view: { dashboard, queries, may_write: mayWrite } }: { view: ShownDashboard }) {
  const isTimed = Object.values(queries).some(({ rest }) => rest !== null);
  const { earliest = '-24h', latest = '' } = dashboard.time ?? {};
  const present = latest === '' || latest === 'now' ? earliest : `${earliest}..${latest}`;
  const isPreset = SPANS.some(([span]) => span === present);
  return (
    <form id="dashboard-bar" class="dashboard-bar" hidden>
      <span id="variables" class="variables"></span>
      <label hidden={!isTimed}>
        <span class="visually-hidden">Time</span>
        <select name="time" data-key="t" data-action="Choose the time">
          {!isPreset && (
            <option value={present} safe>
              {present}
            </option>
          )}
          {SPANS.map(([span, label]) => (
            <option value={span} selected={span === present} safe>
              {label}
            </option>
          ))}
          <option value="between">Between two times…</option>
        </select>
      </label>
      <label>
        <span class="visually-hidden">Refresh</span>
        <select name="refresh">
          {REFRESHES.map((every) => (
            <option value={every} selected={every === (dashboard.refresh ?? 'off')} safe>
              {every === 'off' ? 'Refresh: off' : `Every ${every}`}
            </option>
          ))}
        </select>
      </label>
      <button class="quiet" type="button" id="refresh-now" data-key="r">
        Refresh
      </button>
      <button class="quiet" type="button" id="wall" data-key="w" title="Full screen (w)">
        Full screen
      </button>
      {mayWrite && (
        <button class="quiet" type="button" id="edit-dashboard" data-key="e">
          Edit
        </button>
      )}
    </form>
  );
}

function PlainPanel({
  view,
  panel,
  place,
}: {
  view: ShownDashboard;
  panel: DashboardPanel;
  place: string;
}) {
  const { title, dataset } = panel;
  const problem = view.queries[place]?.problem ?? null;
  const html = view.texts[place];
  const query = view.queries[place];
  const href =
    dataset !== undefined
      ? datasetAddress(dataset)
      : query?.is_sql === true
        ? addressWith('/sql', { q: query.query })
        : addressWith('/events', { q: `${query?.query ?? ''} ${query?.rest ?? ''}`.trim() });
  return (
    <article class="panel">
      {title !== undefined && <h3 safe>{title}</h3>}
      {/* Sanitised where it was rendered. */}
      {html !== undefined ? <div class="document text">{html as 'safe'}</div> : ''}
      {problem !== null ? (
        <p class="fine" safe>
          {problem}
        </p>
      ) : (
        html === undefined && (
          <p class="fine">
            <a {...{ href }}>Show its rows</a>
          </p>
        )
      )}
    </article>
  );
}
