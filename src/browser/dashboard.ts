/** The page of a dashboard: lays its panels out, runs them, and runs them again as often as the reader wants. */
import { type RowView, rowView, startEditing } from './dashboard/editing.ts';
import { PanelView } from './dashboard/panel-view.ts';
import { Runner } from './dashboard/run.ts';
import { Choices, placeIn, type Shown, spanOf, spanText } from './dashboard/state.ts';
import { Variables } from './dashboard/variables.ts';
import { ask } from './shared/ask.ts';
import { closer, make, makeForm, openDialog, submitter } from './shared/element.ts';
import { momentIn, putMoment } from './shared/moment-box.ts';
import { localTime, serverMoment } from './shared/times.ts';

const AGE_MS = 5_000;
/** Between two looks whether the file has changed. */
const FOLLOW_MS = 15_000;
/** Of who comes to the page; who refreshes by hand wants it anew. Each panel tells its age. */
const SHARED_SECONDS = 30;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

const root = document.querySelector<HTMLElement>('#dashboard');
const bar = document.querySelector<HTMLFormElement>('#dashboard-bar');
if (root !== null && bar !== null) start(root, bar);

function start(root: HTMLElement, bar: HTMLFormElement): void {
  const shown = JSON.parse(root.dataset['shown']!) as Shown;
  const choices = new Choices(shown.dashboard);
  const runner = new Runner();
  const panels = root.querySelector<HTMLElement>('#panels')!;
  const time = bar.elements.namedItem('time') as HTMLSelectElement;
  const refresh = bar.elements.namedItem('refresh') as HTMLSelectElement;
  const rows: RowView[] = shown.dashboard.rows.map(({ title, panels: own }, index) => {
    const views = own.map((_, at) => new PanelView(placeIn(shown, index, at), choices, runner));
    return rowView(title, views);
  });
  const views = (): PanelView[] => rows.flatMap((row) => row.views);
  let timer = 0;
  let rounds = 0;
  let dueAt = Infinity;
  let everyMs = 0;

  const variables = new Variables(bar.querySelector('#variables')!, shown, choices, {
    runner,
    changed: () => changed(),
  });

  async function runAll(maxAge: number): Promise<void> {
    plan();
    rounds++;
    delete root.dataset['ready'];
    await variables.load(maxAge);
    variables.put();
    choices.keep(false);
    await Promise.all(views().map((view) => view.refresh(maxAge)));
    if (--rounds === 0) root.dataset['ready'] = 'true';
  }
  function changed(): void {
    choices.keep(true);
    void runAll(SHARED_SECONDS);
  }
  /** Nobody looks at a hidden page; when it comes back, what is overdue runs at once. */
  function plan(): void {
    const [, count = '0', unit = 's'] = /^(\d+)([smh])$/.exec(choices.refresh) ?? [];
    everyMs = Number(count) * UNITS[unit]!;
    dueAt = everyMs === 0 ? Infinity : performance.now() + everyMs;
    clearTimeout(timer);
    if (dueAt < Infinity) timer = window.setTimeout(whenDue, everyMs);
  }
  function whenDue(): void {
    if (document.hidden || root.classList.contains('editing')) return;
    void runAll(Math.min(SHARED_SECONDS, Math.floor(everyMs / 2_000)));
  }
  panels.replaceChildren(...rows.map(({ element }) => element));
  bar.hidden = false;
  putSpan(time, choices);
  refresh.value = choices.refresh;
  variables.put();
  bar.addEventListener('submit', (event) => event.preventDefault());
  time.addEventListener('change', () => {
    if (time.value === 'between') {
      putSpan(time, choices);
      askForSpan(choices, () => {
        putSpan(time, choices);
        changed();
      });
      return;
    }
    choices.span = spanOf(time.value);
    changed();
  });
  refresh.addEventListener('change', () => {
    choices.refresh = refresh.value;
    choices.keep(false);
    plan();
  });
  bar.querySelector('#refresh-now')!.addEventListener('click', () => void runAll(0));
  bar.querySelector('#wall')!.addEventListener('click', () => {
    if (document.fullscreenElement === null) void root.requestFullscreen().catch(() => undefined);
    else void document.exitFullscreen();
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && performance.now() >= dueAt) whenDue();
  });
  addEventListener('popstate', () => location.reload());
  setInterval(() => views().forEach((view) => view.showAge()), AGE_MS);
  setInterval(() => {
    const isBusy = root.classList.contains('editing') || document.querySelector('dialog[open]');
    if (!document.hidden && !isBusy) void followFile(shown);
  }, FOLLOW_MS);
  startEditing(root, { shown, choices, runner, rows });
  void runAll(SHARED_SECONDS);
}

function putSpan(select: HTMLSelectElement, { span }: Choices): void {
  const value = spanText(span);
  if (![...select.options].some((option) => option.value === value)) {
    const ends = [span.earliest, span.latest].map((end) => {
      const moment = serverMoment(end);
      return moment === null ? end : localTime(moment);
    });
    select.prepend(new Option(ends[1] === '' ? `From ${ends[0]}` : ends.join(' – '), value));
  }
  select.value = value;
}

function askForSpan(choices: Choices, done: () => void): void {
  const box = (label: string, text: string): HTMLInputElement => {
    const made = make('input', { type: 'datetime-local', step: 1, 'aria-label': label });
    putMoment(made, serverMoment(text));
    return made;
  };
  const [from, to] = [box('From', choices.span.earliest), box('To', choices.span.latest)];
  const form = makeForm(
    () => {
      const ends = [momentIn(from, 'start'), momentIn(to, 'end')];
      dialog.close();
      if (ends.every((end) => end === null)) return;
      const [earliest = '', latest = ''] = ends.map((end) => end?.toISOString() ?? '');
      choices.span = { earliest, latest };
      done();
    },
    make('label', 'From', from),
    make('label', 'To', to),
    make('p.dialog-actions', submitter('Show'), closer('Cancel')),
  );
  const dialog = openDialog('Between two times', form);
}

/** Draws the page anew from a changed file; what was chosen stands in the address. */
async function followFile({ resource, version }: Shown): Promise<void> {
  const path = resource.split('/').map(encodeURIComponent).join('/');
  try {
    const answer = await ask(`/_svc/dashboards/${path}`);
    const now = (await answer.json()) as Shown;
    if (now.version === version) return;
    location.reload();
  } catch {
    // It is told by the panels when the server is away.
  }
}
