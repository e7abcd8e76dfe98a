/** @jsxImportSource @kitajs/html */
/**
 * The event explorer: a query, a span of time and their result. Every view has an address; scripts add the editor,
 * the histogram, the fields and the live tail.
 */
import type { Format } from '../../tables/read/format.ts';
import { Count } from '../parts/values.tsx';
import { EventQueryProblem, type QueryProblem } from '../parts/event-query.tsx';
import { EventQuery, type EventQueryView } from '../parts/event-query.tsx';
import { EventResults, type EventResultsView } from '../parts/event-results.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { PostForm } from '../parts/forms.tsx';
import type { FrameView, Page } from './frame.tsx';

export interface ResultFigures {
  readonly rows: number;
  readonly isCut: boolean;
  readonly scanned: number;
  readonly elapsedMs: number;
}

export interface EventsView extends EventQueryView, EventResultsView {
  /** The query with its times, as it ran. */
  readonly full: string;
  readonly problem: QueryProblem | null;
  readonly notices: readonly string[];
  /** Null: nothing ran, `problem` says why. */
  readonly figures: ResultFigures | null;
  /** The same events as a table or as lines; null for other rows. */
  readonly otherForm: { readonly label: string; readonly href: string } | null;
  /** The same with more rows; null when all are shown. */
  readonly moreHref: string | null;
  /** With as many rows as each format may have. */
  readonly formatHrefs: Readonly<Record<Format, string>>;
  readonly maxFileRows: number;
  /** The rows are the events that a histogram counts. */
  readonly isCountable: boolean;
  /** Columns of a series over time or by name. */
  readonly isChartable: boolean;
}

export const eventsPage: Page<EventsView> = {
  name: 'events',
  layout: 'wide',
  title: () => 'Events',
  styles: ['uplot.css', 'events.css'],
  scripts: ['events.js', 'query-editor.js'],
  content: (view, frame) => (
    <div
      id="explorer"
      data-keys={'Enter Search\nShift+Enter New line in the query'}
      data-terms={view.terms ?? ''}
      data-searches={String(view.terms !== null && view.mayReadEvents)}
      data-reads={String(view.mayReadEvents)}
      data-earliest={view.earliest}
      data-latest={view.latest}
    >
      <EventQuery view={view} />
      {view.problem !== null && <EventQueryProblem problem={view.problem} />}
      <div class="explorer">
        <aside id="fields" aria-label="Fields" hidden></aside>
        <div class="results">
          <div id="histogram" class="histogram" hidden></div>
          <Tools view={view} frame={frame} />
          {view.notices.map((notice) => (
            <p class="notice" safe>
              {notice}
            </p>
          ))}
          <p id="tail-status" class="fine" role="status" hidden></p>
          <ol id="tail" class="lines" aria-label="Live events" hidden></ol>
          {view.problem === null && <EventResults view={view} />}
          {view.moreHref !== null && (
            <p class="more">
              <a class="button quiet" href={view.moreHref}>
                Show more
              </a>
            </p>
          )}
        </div>
      </div>
    </div>
  ),
};

function Tools({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <div class="tools">
      <p class="fine" role="status">
        {view.figures === null ? (
          'Nothing was searched'
        ) : (
          <Figures {...view} figures={view.figures} />
        )}
      </p>
      {view.otherForm !== null && (
        <a class="button quiet small" href={view.otherForm.href} safe>
          {view.otherForm.label}
        </a>
      )}
      {view.problem === null && <Watch />}
      {view.isChartable && (
        <button
          type="button"
          class={isDrawn(view) ? 'quiet small drawn' : 'quiet small'}
          id="chart"
          hidden
          data-key="c"
        >
          Chart
        </button>
      )}
      <details class="menu-button" id="history" hidden>
        <summary class="button quiet small">History</summary>
        <ul class="plain-list"></ul>
      </details>
      {view.problem === null && <Keep view={view} frame={frame} />}
    </div>
  );
}

/** The reader chose the chart, or the rows are a series over time. */
function isDrawn({ chart, rows }: EventsView): boolean {
  return chart === '' ? rows.every(([first]) => first?.kind === 'time') : chart === '1';
}

/** Buttons that script shows for results that can be followed live. */
function Watch() {
  return (
    <>
      <button type="button" class="quiet small" id="pause" hidden data-key="p">
        Pause
      </button>
      <button
        type="button"
        class="quiet small"
        id="live"
        data-action="Watch events live"
        hidden
        data-key="l"
      >
        Watch live
      </button>
    </>
  );
}

function Keep({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <>
      <details class="menu-button">
        <summary class="button quiet small">Save</summary>
        <PostForm
          class="stack"
          frame={frame}
          to="/savedsearches"
          does="create"
          fields={[['query', view.full]]}
        >
          <label>
            Name
            <input name="name" required maxlength="255" autocomplete="off" />
          </label>
          <label class="check">
            <input type="checkbox" name="is_public" value="true" /> Everybody may see it
          </label>
          <button type="submit">Save this search</button>
        </PostForm>
      </details>
      <ExportMenu
        json={view.formatHrefs.json}
        query={view.full}
        files={view.formatHrefs}
        note={<FileRows view={view} />}
      />
    </>
  );
}

/** How many rows a file of the result will have, as far as known here; the script asks for the full count. */
function FileRows({ view: { figures, maxFileRows, isCountable } }: { view: EventsView }) {
  if (figures !== null && !figures.isCut) {
    const { rows } = figures;
    const isWhole = rows <= maxFileRows;
    return (
      <>
        {isWhole ? 'all ' : 'the first '}
        {!isWhole && <Count value={maxFileRows} />}
        {isWhole ? '' : ' of '}
        <Count value={rows} />
        {rows === 1 ? ' row' : ' rows'}
      </>
    );
  }
  return (
    <span id={isCountable ? 'file-rows' : undefined} data-most={String(maxFileRows)}>
      up to <Count value={maxFileRows} /> rows
    </span>
  );
}

interface FiguresProps {
  readonly figures: ResultFigures;
  readonly isCountable: boolean;
}

function Figures({ figures, isCountable }: FiguresProps) {
  const { rows, isCut, scanned, elapsedMs } = figures;
  return (
    <>
      {isCut ? 'first ' : ''}
      <Count value={rows} />
      {isCut && isCountable && <span id="matched"></span>}
      {rows === 1 ? ' row · ' : ' rows · '}
      <Count value={scanned} />
      {' scanned · '}
      <Count value={elapsedMs} />
      {' ms'}
    </>
  );
}
