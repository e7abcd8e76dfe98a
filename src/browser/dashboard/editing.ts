/**
 * Moving, sizing, adding and changing panels, by pointer or by keys. Steps are kept as a JSON Patch, which is sent when the
 * reader saves: the server changes only what they name in the file.
 */
import type { DashboardPanel } from '../../docroot/dashboard.ts';
import { ask, isConflict, messageOf, posting } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { editPanel } from './panel-dialog.ts';
import { PanelView, sizeOf, titleOf } from './panel-view.ts';
import type { Runner } from './run.ts';
import type { Choices, Place, Shown } from './state.ts';

export interface RowView {
  readonly element: HTMLElement;
  readonly grid: HTMLElement;
  readonly views: PanelView[];
}

export interface Step {
  readonly op: 'add' | 'move' | 'remove' | 'replace';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

interface Editing {
  readonly shown: Shown;
  readonly choices: Choices;
  readonly runner: Runner;
  /** In the order of the page; changed in place. */
  readonly rows: RowView[];
}

const COLUMNS = 12;
const LEAST_HEIGHT = 2;
const MOST_HEIGHT = 30;

export function rowView(title: string | undefined, views: PanelView[]): RowView {
  const grid = make('div.dash-grid', ...views.map(({ element }) => element));
  const element = make('section.dash-row', title === undefined ? null : make('h2', title), grid);
  return { element, grid, views };
}

function dashboardAddress(resource: string): string {
  return `/_svc/dashboards/${resource.split('/').map(encodeURIComponent).join('/')}`;
}

export function startEditing(root: HTMLElement, editing: Editing): void {
  const button = root.querySelector<HTMLButtonElement>('#edit-dashboard');
  if (button === null) return;
  button.addEventListener('click', () => {
    if (!root.classList.contains('editing')) new Editor(root, editing).begin();
  });
}

class Editor {
  readonly #root: HTMLElement;
  readonly #editing: Editing;
  readonly #steps: Step[] = [];
  readonly #note: HTMLElement;
  readonly #title: HTMLInputElement;

  constructor(root: HTMLElement, editing: Editing) {
    this.#root = root;
    this.#editing = editing;
    this.#note = root.querySelector<HTMLElement>('#dashboard-note')!;
    const { title } = editing.shown.dashboard;
    this.#title = make('input', {
      value: title,
      'aria-label': 'Title of the dashboard',
      maxlength: 200,
    });
    this.#title.addEventListener('change', () =>
      this.#keep({ op: 'replace', path: '/title', value: this.#title.value }),
    );
  }

  begin(): void {
    const bar = make(
      'div.edit-bar',
      { role: 'toolbar', 'aria-label': 'Edit the dashboard' },
      this.#title,
      quietButton('Add a panel', () => this.#add(), { id: 'add-panel' }),
      make('button.small', { type: 'button', onclick: () => void this.#save() }, 'Save'),
      quietButton('Cancel', () => {
        this.#steps.length = 0;
        location.reload();
      }),
    );
    this.#root.classList.add('editing');
    this.#root.querySelector('#dashboard-bar')!.after(bar);
    for (const { views } of this.#editing.rows) for (const view of views) this.#equip(view);
    addEventListener('beforeunload', (event) => {
      if (this.#steps.length > 0) event.preventDefault();
    });
    this.#title.focus();
  }

  #equip(view: PanelView): void {
    const title = titleOf(view.place.panel) || 'the text';
    const move = quietButton('Move', () => {}, {
      class: 'quiet small grip',
      'aria-label': `Move ${title}: drag, or the arrow keys`,
    });
    const size = quietButton('⇲', () => {}, {
      class: 'quiet small sizer',
      'aria-label': `Size of ${title}: drag, or the arrow keys`,
    });
    move.addEventListener('pointerdown', (event) => this.#drag(view, event));
    size.addEventListener('pointerdown', (event) => this.#stretch(view, event));
    move.addEventListener('keydown', (event) => this.#moveBy(view, event));
    size.addEventListener('keydown', (event) => this.#sizeBy(view, event));
    view.element.append(
      make(
        'div.panel-tools',
        move,
        quietButton('Edit', () => this.#edit(view), { 'aria-label': `Edit ${title}` }),
        quietButton('Remove', () => this.#remove(view), { 'aria-label': `Remove ${title}` }),
      ),
      size,
    );
  }

  #pathOf(view: PanelView): string {
    const { rows } = this.#editing;
    const row = rows.findIndex(({ views }) => views.includes(view));
    return `/rows/${row}/panels/${rows[row]!.views.indexOf(view)}`;
  }

  /** Without a step. */
  #place(view: PanelView, row: RowView, at: number): void {
    for (const { views } of this.#editing.rows) {
      const before = views.indexOf(view);
      if (before >= 0) views.splice(before, 1);
    }
    row.grid.insertBefore(view.element, row.views[at]?.element ?? null);
    row.views.splice(at, 0, view);
  }

  #newRow(): RowView {
    const row = rowView(undefined, []);
    this.#editing.rows.push(row);
    this.#root.querySelector('#panels')!.append(row.element);
    this.#keep({ op: 'add', path: '/rows/-', value: { panels: [] } });
    return row;
  }

  #moveTo(view: PanelView, row: RowView, at: number): void {
    const from = this.#pathOf(view);
    this.#place(view, row, at);
    this.#moved(view, from);
  }

  #moved(view: PanelView, from: string): void {
    const path = this.#pathOf(view);
    if (path === from) return;
    this.#keep({ op: 'move', from, path });
    const [, , row, , at] = path.split('/').map(Number);
    this.#say(`${titleOf(view.place.panel) || 'The text'}: row ${row! + 1}, place ${at! + 1}`);
  }

  #moveBy(view: PanelView, event: KeyboardEvent): void {
    const { rows } = this.#editing;
    const index = rows.findIndex(({ views }) => views.includes(view));
    const row = rows[index]!;
    const at = row.views.indexOf(view);
    const [above, below] = [rows[index - 1], rows[index + 1]];
    switch (event.key) {
      case 'ArrowLeft':
        if (at > 0) this.#moveTo(view, row, at - 1);
        else if (above !== undefined) this.#moveTo(view, above, above.views.length);
        break;
      case 'ArrowRight':
        if (at < row.views.length - 1) this.#moveTo(view, row, at + 1);
        else if (below !== undefined) this.#moveTo(view, below, 0);
        break;
      case 'ArrowUp':
        if (above !== undefined) this.#moveTo(view, above, Math.min(at, above.views.length));
        break;
      case 'ArrowDown':
        if (below === undefined && row.views.length === 1) break;
        this.#moveTo(view, below ?? this.#newRow(), Math.min(at, below?.views.length ?? 0));
        break;
      default:
        return;
    }
    event.preventDefault();
    // Moving an element takes the focus from what is in it.
    (event.currentTarget as HTMLElement).focus();
    view.draw(true);
  }

  #sizeBy(view: PanelView, event: KeyboardEvent): void {
    const [width, height] = sizeOf(view.place.panel);
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#resize(view, width + step[0], height + step[1]);
    this.#sized(view, [width, height]);
  }

  #resize(view: PanelView, wantedWidth: number, wantedHeight: number): void {
    const width = Math.max(1, Math.min(COLUMNS, wantedWidth));
    const height = Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, wantedHeight));
    Object.assign(view.place.panel, { width, height });
    view.fit();
  }

  #sized(view: PanelView, before: readonly [number, number]): void {
    const [width, height] = sizeOf(view.place.panel);
    const path = this.#pathOf(view);
    if (width !== before[0]) this.#keep({ op: 'add', path: `${path}/width`, value: width });
    if (height !== before[1]) this.#keep({ op: 'add', path: `${path}/height`, value: height });
    this.#say(`${width} of ${COLUMNS} columns, ${height} steps high`);
    view.draw(true);
  }

  #drag(view: PanelView, event: PointerEvent): void {
    const grip = event.currentTarget as HTMLElement;
    const from = this.#pathOf(view);
    view.element.classList.add('dragged');
    follow(grip, event, {
      moved: (x, y) => {
        const under = document.elementsFromPoint(x, y);
        const target = this.#editing.rows
          .flatMap(({ views }) => views)
          .find((one) => one !== view && under.includes(one.element));
        if (target !== undefined) return this.#beside(view, target, x);
        const row = this.#editing.rows.find(({ element }) => under.includes(element));
        const isLast = row?.views.at(-1) === view;
        if (row !== undefined && !isLast && !under.includes(view.element))
          this.#place(view, row, row.views.filter((one) => one !== view).length);
      },
      ended: () => {
        view.element.classList.remove('dragged');
        this.#moved(view, from);
        view.draw(true);
      },
    });
  }

  #beside(view: PanelView, target: PanelView, x: number): void {
    const row = this.#editing.rows.find(({ views }) => views.includes(target))!;
    const { left, width } = target.element.getBoundingClientRect();
    const others = row.views.filter((one) => one !== view);
    const at = others.indexOf(target) + (x > left + width / 2 ? 1 : 0);
    if (row.views.indexOf(view) !== at) this.#place(view, row, at);
  }

  #stretch(view: PanelView, event: PointerEvent): void {
    const before = sizeOf(view.place.panel);
    const grid = view.element.parentElement!;
    const style = getComputedStyle(grid);
    const [gap, step] = [parseFloat(style.columnGap), parseFloat(style.gridAutoRows)];
    const column = (grid.clientWidth + gap) / COLUMNS;
    follow(event.currentTarget as HTMLElement, event, {
      moved: (x, y) => {
        const { left, top } = view.element.getBoundingClientRect();
        this.#resize(view, Math.round((x - left) / column), Math.round((y - top) / (step + gap)));
      },
      ended: () => this.#sized(view, before),
    });
  }

  #remove(view: PanelView): void {
    const title = titleOf(view.place.panel) || 'The text';
    this.#keep({ op: 'remove', path: this.#pathOf(view) });
    const row = this.#editing.rows.find(({ views }) => views.includes(view))!;
    row.views.splice(row.views.indexOf(view), 1);
    view.stop();
    view.element.remove();
    this.#say(`${title} is removed; Cancel brings it back.`);
    this.#title.focus();
  }

  #add(): void {
    const row = this.#editing.rows.at(-1) ?? this.#newRow();
    const path = `/rows/${this.#editing.rows.indexOf(row)}/panels/${row.views.length}`;
    const panel: DashboardPanel = { title: '', query: '* | timechart count', form: 'line' };
    this.#open(panel, path, 'add', (view) => {
      row.views.push(view);
      row.grid.append(view.element);
    });
  }

  #edit(view: PanelView): void {
    const path = this.#pathOf(view);
    this.#open(view.place.panel, path, 'replace', (made) => {
      const { views } = this.#editing.rows.find((row) => row.views.includes(view))!;
      views[views.indexOf(view)] = made;
      view.stop();
      view.element.replaceWith(made.element);
    });
  }

  #open(
    panel: DashboardPanel,
    path: string,
    op: 'add' | 'replace',
    put: (view: PanelView) => void,
  ): void {
    const { choices, runner, shown } = this.#editing;
    const { forms, colors } = JSON.parse(this.#root.dataset['choices']!) as {
      readonly forms: readonly string[];
      readonly colors: readonly string[];
    };
    const stepOf = (value: DashboardPanel): Step => ({ op, path, value });
    editPanel(panel, {
      forms,
      colors,
      preview: (value) => this.#trial(shown.resource, path, stepOf(value)),
      show: (place) => new PanelView(place, choices, runner),
      save: (value, place) => {
        this.#keep(stepOf(value));
        const view = new PanelView({ ...place, panel: value }, choices, runner);
        put(view);
        this.#equip(view);
        void view.refresh(0);
      },
    });
  }

  /** What the panel would run and show. Rejects with what is wrong with it. */
  async #trial(resource: string, path: string, step: Step): Promise<Place> {
    const address = `${dashboardAddress(resource)}?dry_run=true`;
    const answer = await ask(address, posting([...this.#steps, step], 'PATCH'));
    const { dashboard, queries, texts } = (await answer.json()) as Shown;
    const [, , row, , at] = path.split('/');
    const key = `${row}/${at}`;
    return {
      panel: dashboard.rows[Number(row)]!.panels[Number(at)]!,
      query: queries[key] ?? null,
      html: texts[key] ?? null,
    };
  }

  #keep(step: Step): void {
    const last = this.#steps.at(-1);
    // Each key press is a step of the same size.
    if (
      step.op === 'add' &&
      last?.op === 'add' &&
      last.path === step.path &&
      !step.path.endsWith('-')
    )
      this.#steps.pop();
    this.#steps.push(step);
  }

  async #save(): Promise<void> {
    const { shown, rows } = this.#editing;
    const empty = [...rows.keys()].filter((at) => rows[at]!.views.length === 0).reverse();
    const steps = [
      ...this.#steps,
      ...empty.map((at): Step => ({ op: 'remove', path: `/rows/${at}` })),
    ];
    const init = posting(steps, 'PATCH');
    try {
      await ask(dashboardAddress(shown.resource), {
        ...init,
        headers: { ...init.headers, 'If-Match': `"${shown.version}"` },
      });
      this.#steps.length = 0;
      location.reload();
    } catch (error) {
      this.#say(
        isConflict(error)
          ? 'Somebody else has changed this dashboard meanwhile. Cancel shows it as it is now.'
          : messageOf(error),
      );
    }
  }

  #say(text: string): void {
    this.#note.textContent = text;
    this.#note.hidden = false;
  }
}

interface Followed {
  moved(x: number, y: number): void;
  ended(): void;
}

function follow(handle: HTMLElement, event: PointerEvent, { moved, ended }: Followed): void {
  if (event.button !== 0) return;
  event.preventDefault();
  handle.focus();
  // On the document: a handle that is moved in the page loses its capture.
  const stopper = new AbortController();
  const { signal } = stopper;
  const end = (): void => {
    stopper.abort();
    ended();
  };
  document.addEventListener('pointermove', ({ clientX, clientY }) => moved(clientX, clientY), {
    signal,
  });
  document.addEventListener('pointerup', end, { signal });
  document.addEventListener('pointercancel', end, { signal });
}
