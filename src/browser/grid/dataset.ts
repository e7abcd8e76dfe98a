import { isInMenu, parseFilter, withMember } from '../../pages/grid/conditions.ts';
import {
  countText,
  listText,
  type GridColumn,
  type GridData,
  type GridRow,
} from '../../pages/grid/model.ts';
import { addressOf, readView, rowsQuery, shownColumns, type View } from '../../pages/grid/view.ts';
import { make, quietButton } from '../shared/element.ts';
import { makeChartPanel } from './view/chart-panel.ts';
import { makeFooter } from './footer.ts';
import { watchFile } from './live.ts';
import { Notices, emptyRows, refusedRows } from './notices.ts';
import { startPrinting } from './printing.ts';
import { openRow, rowTitle } from './row-dialog.ts';
import { copySelected } from './table/clipboard.ts';
import { startFillHandle } from './table/fill-handle.ts';
import { type GridActions, startKeyboard } from './table/keyboard.ts';
import { startPointer } from './table/pointer.ts';
import { mayPass, RowStore } from './table/rows.ts';
import { GridTable } from './table/table.ts';
import { type Begun, findBegun, openForm } from './view/early-input.ts';
import { chipsOf, openFilter } from './view/chips.ts';
import { openColumnMenu } from './view/column-menu.ts';
import { openColumns } from './view/columns-dialog.ts';
import { exportMenu } from './view/export-menu.ts';
import { makeSearchBox } from './view/search-box.ts';
import { makeValuesPanel } from './view/values-panel.ts';
import {
  columnHidden,
  columnMoved,
  pinToggled,
  sortedBy,
  sortToggled,
} from './view/view-changes.ts';
import { Writing } from './writing/writing.ts';

const WRONG = 'wrong';

/** Replaces the static content of `root`. */
export function startDataset(root: HTMLElement): void {
  const data = JSON.parse(root.dataset['grid']!) as GridData;
  new DatasetPage(data).start(root);
}

class DatasetPage {
  readonly #data: GridData;
  readonly #store: RowStore;
  readonly #table: GridTable;
  readonly #values;
  readonly #chart;
  readonly #notices = new Notices(() => this.#focusGrid());
  readonly #writing: Writing | null;
  readonly #search = makeSearchBox((q) => {
    if (q !== this.#view.q) this.#show({ q }, true);
  });
  readonly #footer;
  readonly #chips = make('ul.chips', { 'aria-label': 'Conditions and order' });
  readonly #overlay = make('div.grid-overlay');
  readonly #valuesButton: HTMLButtonElement;
  readonly #chartButton: HTMLButtonElement;
  #view: View;
  #startAt: number | null;
  /** Version whose columns were last compared with the page's. */
  #checked = '';

  constructor(data: GridData) {
    const { page, columns } = data;
    this.#data = data;
    this.#view = readView(location.search, columns);
    this.#startAt = data.startAt;
    const store = new RowStore(
      data.api,
      () => this.#rowsChanged(),
      () => {
        if (this.#writing?.isBusy !== true) this.#fileChanged();
      },
    );
    this.#store = store;
    const table = new GridTable({
      label: `Rows of ${data.file}`,
      store,
      mayWrite: data.mayWrite,
      selectionChanged: () => {
        this.#writing?.selectionChanged();
        this.#drawCount();
      },
      unsaved: (row, column) => this.#writing?.cells.unsaved(row, column),
      isChanged: (row, column) => store.isChanged(row, column),
      tooMany: (limit) =>
        this.#notices.show(
          `The first ${countText(limit)} of these are selected: more is for a download.`,
        ),
    });
    this.#table = table;
    this.#footer = makeFooter(table);
    const restriction = (): URLSearchParams => rowsQuery({ ...this.#view, sort: [] });
    this.#values = makeValuesPanel({
      page,
      columns,
      restriction,
      filter: (column, member) => this.#filter(column.name, member),
    });
    this.#chart = makeChartPanel({
      page,
      script: data.chartScript,
      columns,
      rows: () => [...store.loaded()].map(([, row]) => row),
      restriction,
      chosen: (chart) => this.#show({ chart }),
    });
    const rowsChanged = (): void => this.#refreshPanels();
    const writing = { data, store, table, notices: this.#notices, rowsChanged };
    this.#writing = data.mayWrite ? new Writing(writing) : null;
    const toggleValues = (): void => this.#show({ hasValues: !this.#view.hasValues });
    this.#valuesButton = quietButton('Values', toggleValues, {
      'data-action': 'Values of the columns',
    });
    this.#chartButton = quietButton('Chart', () => this.#chart.toggle(), {
      'data-action': 'Chart of columns',
    });
  }

  start(root: HTMLElement): void {
    root.classList.add('grid-page');
    root.classList.toggle('fixed', this.#data.isFixed);
    document.querySelector('main')?.classList.add('broad');
    const begun = findBegun(root);
    const problem = root.querySelector('.problem')?.textContent ?? '';
    const box = make('div.grid-box', this.#table.element, this.#overlay);
    root.replaceChildren(
      this.#toolbar(),
      this.#chips,
      this.#notices.element,
      this.#chart.element,
      make('div.grid-area', box, this.#values.element),
      this.#footer.element,
    );
    this.#listen();
    this.#apply();
    this.#store.show(rowsQuery(this.#view));
    this.#goOn(begun);
    // Unknown columns are only left out of the grid; a wrong filter is reported in place of the
    // rows.
    if (/^Invalid (?:sort|columns)/.test(problem)) this.#notices.show(problem, null, WRONG);
    startPrinting({
      page: root,
      rows: () => this.#store.loaded(),
      columns: () => this.#table.columns,
      total: () => this.#store.total,
      first: () => this.#table.firstRow,
    });
    // What was does not change.
    if (this.#view.then !== undefined) return;
    watchFile({
      api: this.#data.api,
      username: this.#data.isShared ? null : this.#data.username,
      version: () => (this.#writing?.isBusy === true ? '' : this.#store.version),
      changed: (by) => this.#fileChanged(by),
      people: (names) => this.#footer.drawPeople(names),
      lost: (status) => this.#tellLost({ status, message: 'The file cannot be read any more.' }),
      found: () => {
        this.#notices.tellFound();
        const { problem } = this.#store;
        if (problem !== null && mayPass(problem.status)) this.#store.reload();
        this.#writing?.cells.tryAgain(mayPass);
      },
    });
  }

  #listen(): void {
    const actions: GridActions = {
      sort: ({ name }, isMore) => {
        if (!this.#data.isFixed) this.#show(sortToggled(this.#view, name, isMore));
      },
      menu: (column, anchor) => {
        if (!this.#data.isFixed) this.#openMenu(column, anchor);
      },
      edit: (place, text) => {
        const row = this.#store.at(place.row);
        if (row === undefined || this.#writing?.cells.edit(place, text) === true) return;
        if (text === null) this.#openRow(row);
      },
      open: (row) => this.#openRow(row),
      key: (event) => this.#writing?.key(event) ?? false,
    };
    startKeyboard(this.#table, actions);
    startPointer(this.#table, actions);
    const writing = this.#writing;
    if (writing !== null) {
      startFillHandle(this.#table, (fill, isCopy) => void writing.blocks.fill(fill, isCopy));
      document.addEventListener('cut', (event) => {
        if (this.#copy(event)) writing.cut();
      });
    }
    document.addEventListener('copy', (event) => this.#copy(event));
    document.addEventListener('keydown', (event) => this.#enter(event));
    addEventListener('popstate', () => {
      this.#view = readView(location.search, this.#data.columns);
      this.#search.replace(this.#view.q);
      this.#apply();
      this.#store.show(rowsQuery(this.#view));
    });
  }

  #focusGrid(): void {
    this.#table.element.focus({ preventScroll: true });
  }

  /** The user typed or focused before this script had loaded. */
  #goOn({ words, caret, filter, form, field }: Begun): void {
    if (words !== null) {
      this.#search.replace(words);
      this.#search.searchNow();
    }
    if (caret !== null) this.#search.focus(caret);
    openForm(
      { form, field },
      () => this.#view.filter,
      (view) => this.#show(view),
    );
    if (filter !== null) this.#editFilter(filter);
  }

  /** When nothing has the focus, navigation keys enter the grid. */
  #enter(event: KeyboardEvent): void {
    const isElsewhere = event.target !== document.body || event.ctrlKey || event.metaKey;
    if (isElsewhere || event.altKey || !/^(?:Arrow|Page)/.test(event.key)) return;
    event.preventDefault();
    this.#focusGrid();
  }

  #toolbar(): HTMLElement {
    const choose = (): void =>
      openColumns(this.#data.columns, this.#table.columns, this.#view.pinned, (choice) =>
        this.#show(choice),
      );
    const columns = quietButton('Columns', choose, { 'data-action': 'Choose columns' });
    const ask = make(
      'a.button.quiet.small',
      { href: `${this.#data.page}?ask=`, 'data-action': 'Ask a question about these rows' },
      'Ask',
    );
    const more = exportMenu({
      data: this.#data,
      address: () => `${location.origin}${location.pathname}${addressOf(this.#view)}`,
      query: () => rowsQuery(this.#view),
      columns: () => this.#view.columns,
      editFilter: () => this.#editFilter(),
    });
    const { isFixed, isShared } = this.#data;
    if (isFixed) return make('div.grid-tools', make('div.tool-group', more));
    return make(
      'div.grid-tools',
      this.#search.element,
      make(
        'div.tool-group',
        columns,
        this.#valuesButton,
        this.#chartButton,
        isShared || this.#view.then !== undefined ? null : ask,
      ),
      this.#writing?.tools,
      make('div.tool-group', more),
    );
  }

  /** Null changes nothing. */
  #show(part: Partial<View> | null, isTyping = false): void {
    if (part === null) return;
    const before = this.#view;
    this.#view = { ...before, ...part };
    const address = location.pathname + addressOf(this.#view);
    if (isTyping) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    this.#apply();
    if (String(rowsQuery(before)) === String(rowsQuery(this.#view))) return;
    this.#table.selection.selectNone();
    this.#table.toTop();
    this.#store.show(rowsQuery(this.#view));
  }

  #apply(): void {
    const view = this.#view;
    this.#search.show(view.q);
    const filtered = Object.keys(parseFilter(view.filter) ?? {});
    const columns = shownColumns(view, this.#data.columns);
    this.#table.setColumns(columns, view.pinned, view.sort, filtered);
    this.#drawChips();
    this.#values.show(view.hasValues);
    this.#valuesButton.setAttribute('aria-pressed', String(view.hasValues));
    this.#chart.show(view.chart);
    this.#chartButton.setAttribute('aria-pressed', String(view.chart !== null));
  }

  #rowsChanged(): void {
    const { total, problem, hasRows } = this.#store;
    this.#table.refresh();
    this.#checkColumns();
    if (total !== null && this.#startAt !== null) {
      this.#focusGrid();
      this.#table.selection.activate({ row: this.#startAt, column: 0 });
      this.#startAt = null;
    }
    this.#drawCount();
    const isWriting = this.#writing?.cells.isBegun === true;
    // Rows and edits stay visible when a refresh fails.
    const isKept = problem !== null && hasRows && (mayPass(problem.status) || isWriting);
    if (isKept) this.#tellLost(problem);
    const show = (part: Partial<View>): void => this.#show(part);
    const data = this.#data;
    const firstRows = this.#writing?.firstRows() ?? null;
    const content =
      problem !== null && !isKept
        ? refusedRows(problem, { show, reload: () => this.#store.reload() })
        : total === 0
          ? emptyRows({ data, view: this.#view, firstRows, show })
          : [];
    this.#overlay.replaceChildren(...content);
    this.#overlay.hidden = content.length === 0;
  }

  #tellLost(problem: { readonly status: number; readonly message: string }): void {
    this.#notices.tellLost(this.#data.file, problem);
  }

  #drawCount(): void {
    const all = this.#data.columns.length;
    const isCut = this.#view.columns === null && all > this.#table.columns.length;
    this.#footer.draw(this.#store.total, isCut ? all : null);
  }

  /** The columns came with the page; if the file's have changed, the page must be reloaded. */
  #checkColumns(): void {
    const row = this.#store.at(0);
    if (row === undefined || this.#store.version === this.#checked) return;
    this.#checked = this.#store.version;
    const { columns, file } = this.#data;
    const isSame =
      Object.keys(row).length === columns.length + 1 &&
      columns.every(({ name }) => Object.hasOwn(row, name));
    const reload = { label: 'Show them', run: () => location.reload() };
    if (!isSame) this.#notices.show(`The columns of ${file} have changed.`, reload);
  }

  #fileChanged(by: readonly string[] = []): void {
    this.#writing?.fileChanged();
    this.#store.reload();
    this.#refreshPanels();
    const isTyping = this.#writing?.cells.isTyping === true;
    this.#notices.show(
      `${this.#data.file} was changed by ${by.length === 0 ? 'someone else' : listText(by)}. ${isTyping ? 'What you are typing is kept.' : 'These are the newest rows.'}`,
    );
  }

  #refreshPanels(): void {
    this.#values.refresh(true);
    this.#chart.refresh();
  }

  #filter(column: string, member: unknown): void {
    this.#show({ filter: withMember(this.#view.filter, column, member) });
  }

  #openMenu(column: GridColumn, anchor: HTMLElement): void {
    const { name } = column;
    const shown = this.#table.columns.map((one) => one.name);
    openColumnMenu({
      column,
      anchor,
      member: parseFilter(this.#view.filter)?.[name],
      isPinned: this.#view.pinned.includes(name),
      closed: () => this.#focusGrid(),
      actions: {
        sort: (isDescending, isMore) =>
          this.#show(sortedBy(this.#view, { column: name, isDescending }, isMore)),
        filter: (member) => this.#filter(name, member),
        pin: () => this.#show(pinToggled(this.#view, name)),
        move: (by) => this.#show(columnMoved(shown, name, by)),
        hide: () => this.#show(columnHidden(shown, name)),
        values: () => {
          this.#show({ hasValues: true });
          this.#values.open(column);
        },
      },
    });
  }

  #drawChips(): void {
    const { filter, sort } = this.#view;
    const chips = chipsOf(
      { filter, sort },
      {
        change: (name, anchor) => {
          const column = this.#data.columns.find((one) => one.name === name);
          const member = name === null ? null : parseFilter(filter)?.[name];
          if (column !== undefined && isInMenu(member, column)) this.#openMenu(column, anchor);
          else this.#editFilter();
        },
        remove: (column) => {
          if (column === null) this.#show({ filter: '' });
          else this.#filter(column, null);
        },
        unsort: (step) => this.#show({ sort: sort.filter((one) => one !== step) }),
      },
    );
    this.#chips.replaceChildren(...chips);
    this.#chips.hidden = chips.length === 0;
  }

  #editFilter(text = this.#view.filter): void {
    openFilter(text, (filter) => this.#show({ filter }));
  }

  #openRow(row: GridRow): void {
    const { columns, file } = this.#data;
    if (this.#writing !== null) this.#writing.rows.open(row);
    else openRow({ columns, title: rowTitle(row, file), row, save: null, verb: '' });
  }

  /** False when nothing was copied. */
  #copy(event: ClipboardEvent): boolean {
    const copied = copySelected(this.#table, event);
    if (copied !== null && copied.text !== '') this.#notices.show(copied.text);
    return copied?.isDone === true;
  }
}
