import { type Begun, findBegun, openForm } from './view/begun.ts';
import { ChartPanel } from './chart/panel.ts';
import { copySelected } from './table/clipboard.ts';
import { openColumnMenu } from './view/column-menu.ts';
import { openColumns } from './view/columns-dialog.ts';
import { chipsOf } from './view/chips.ts';
import { isInMenu, parseFilter, withMember } from '../../pages/grid/conditions.ts';
import { make, quietButton } from './element.ts';
import { openFilter } from './view/filter-dialog.ts';
import { Footer } from './footer.ts';
import { watchFile } from './live.ts';
import { countText, type GridColumn, type GridData, type GridRow } from '../../pages/grid/model.ts';
import { emptyRows, refusedRows } from './no-rows.ts';
import { Notices } from './notices.ts';
import { tellFound, tellLost } from './out-of-reach.ts';
import { openRow, rowTitle } from './row-dialog.ts';
import { startPrinting } from './printing.ts';
import { mayPass, type RowsProblem, RowStore } from './table/rows.ts';
import { exportMenu } from './view/export-menu.ts';
import { SearchBox } from './view/search-box.ts';
import { GridTable } from './table/table.ts';
import { ValuesPanel } from './view/values-panel.ts';
import { addressOf, readView, rowsQuery, shownColumns, type View } from '../../pages/grid/view.ts';
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
  new DatasetPage(root, data).start();
}

class DatasetPage {
  readonly #root: HTMLElement;
  readonly #data: GridData;
  readonly #store: RowStore;
  readonly #table: GridTable;
  readonly #values: ValuesPanel;
  readonly #chart: ChartPanel;
  readonly #notices = new Notices(() => this.#table.element.focus({ preventScroll: true }));
  readonly #writing: Writing | null;
  readonly #search = new SearchBox((q) => this.#searchFor(q));
  readonly #footer: Footer;
  readonly #chips = make('ul', { class: 'chips', 'aria-label': 'Conditions and order' });
  readonly #overlay = make('div', { class: 'grid-overlay' });
  readonly #valuesButton: HTMLButtonElement;
  readonly #chartButton: HTMLButtonElement;
  #view: View;
  #startAt: number | null;
  /** Version whose columns were last compared with the page's. */
  #checked = '';

  constructor(root: HTMLElement, data: GridData) {
    this.#root = root;
    this.#data = data;
    this.#view = readView(location.search, data.columns);
    this.#startAt = data.startAt;
    this.#store = new RowStore(
      data.api,
      () => this.#rowsChanged(),
      () => {
        if (this.#writing?.isBusy !== true) this.#fileChanged();
      },
    );
    const restriction = (): URLSearchParams => rowsQuery({ ...this.#view, sort: [] });
    this.#table = new GridTable({
      label: `Rows of ${data.file}`,
      store: this.#store,
      mayWrite: data.mayWrite,
      events: {
        sort: ({ name }, isMore) => this.#show(sortToggled(this.#view, name, isMore)),
        menu: (column, anchor) => this.#openMenu(column, anchor),
        edit: (place, text) => {
          const row = this.#store.at(place.row);
          if (row === undefined) return;
          if (this.#writing?.cells.edit(place, text) !== true && text === null) this.#openRow(row);
        },
        open: (row) => this.#openRow(row),
        selectionChanged: () => {
          this.#writing?.selectionChanged();
          this.#drawCount();
        },
        unsaved: (row, column) => this.#writing?.cells.unsaved.of(row, column),
        tooMany: (limit) =>
          this.#notices.show(
            `The first ${countText(limit)} of these are selected: more is for a download.`,
          ),
        fill: (fill, isCopy) => void this.#writing?.blocks.fill(fill, isCopy),
        key: (event) => this.#writing?.key(event) ?? false,
      },
    });
    this.#footer = new Footer(this.#table);
    this.#values = new ValuesPanel({
      page: data.page,
      columns: data.columns,
      restriction,
      filter: (column, member) => this.#filter(column.name, member),
    });
    this.#chart = new ChartPanel({
      page: data.page,
      script: data.chartScript,
      columns: data.columns,
      rows: () => [...this.#store.loaded()].map(([, row]) => row),
      restriction,
      chosen: (chart) => this.#show({ chart }),
    });
    this.#writing = data.mayWrite
      ? new Writing({
          data,
          store: this.#store,
          table: this.#table,
          notices: this.#notices,
          rowsChanged: () => this.#refreshPanels(),
        })
      : null;
    this.#valuesButton = quietButton(
      'Values',
      () => this.#show({ hasValues: !this.#view.hasValues }),
      {
        'data-action': 'Values of the columns',
      },
    );
    this.#chartButton = quietButton('Chart', () => this.#chart.toggle(), {
      'data-action': 'Chart of columns',
    });
  }

  start(): void {
    this.#root.classList.add('grid-page');
    document.querySelector('main')?.classList.add('broad');
    const begun = findBegun(this.#root);
    const problem = this.#root.querySelector('.problem')?.textContent ?? '';
    this.#root.replaceChildren(
      this.#toolbar(),
      this.#chips,
      this.#notices.element,
      this.#chart.element,
      make(
        'div',
        { class: 'grid-area' },
        make('div', { class: 'grid-box' }, this.#table.element, this.#overlay),
        this.#values.element,
      ),
      this.#footer.element,
    );
    this.#apply();
    this.#store.show(rowsQuery(this.#view));
    this.#goOn(begun);
    // Unknown columns are only left out of the grid; a wrong filter is reported in place of the
    // rows.
    if (/^Invalid (?:sort|columns)/.test(problem)) this.#notices.show(problem, null, WRONG);
    addEventListener('popstate', () => {
      this.#view = readView(location.search, this.#data.columns);
      this.#search.replace(this.#view.q);
      this.#apply();
      this.#store.show(rowsQuery(this.#view));
    });
    startPrinting({
      page: this.#root,
      rows: () => this.#store.loaded(),
      columns: () => this.#table.columns,
      total: () => this.#store.total,
      first: () => this.#table.firstRow,
    });
    document.addEventListener('copy', (event) => this.#copy(event));
    document.addEventListener('cut', (event) => this.#cut(event));
    document.addEventListener('keydown', (event) => this.#enter(event));
    watchFile({
      api: this.#data.api,
      version: () => (this.#writing?.isBusy === true ? '' : this.#store.version),
      changed: () => this.#fileChanged(),
      lost: (status) => this.#tellLost(status),
      found: () => {
        tellFound(this.#notices);
        const { problem } = this.#store;
        if (problem !== null && mayPass(problem.status)) this.#store.reload();
        this.#writing?.cells.tryAgain(mayPass);
      },
    });
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
    this.#table.element.focus({ preventScroll: true });
  }

  #toolbar(): HTMLElement {
    const columns = quietButton('Columns', () => this.#chooseColumns(), {
      'data-action': 'Choose columns',
    });
    const more = exportMenu({
      data: this.#data,
      address: () => `${location.origin}${location.pathname}${addressOf(this.#view)}`,
      query: () => rowsQuery(this.#view),
      columns: () => this.#view.columns,
      notices: this.#notices,
      editFilter: () => this.#editFilter(),
    });
    return make(
      'div',
      { class: 'grid-tools' },
      this.#search.element,
      make('div', { class: 'tool-group' }, columns, this.#valuesButton, this.#chartButton),
      this.#writing?.tools ?? null,
      make('div', { class: 'tool-group' }, ...more),
    );
  }

  #show(part: Partial<View>, isTyping = false): void {
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

  #showIf(part: Partial<View> | null): void {
    if (part !== null) this.#show(part);
  }

  #apply(): void {
    const view = this.#view;
    this.#search.show(view.q);
    const filtered = Object.keys(parseFilter(view.filter) ?? {});
    this.#table.setColumns(
      shownColumns(view, this.#data.columns),
      view.pinned,
      view.sort,
      filtered,
    );
    this.#drawChips();
    this.#values.show(view.hasValues);
    this.#valuesButton.setAttribute('aria-pressed', String(view.hasValues));
    this.#chart.show(view.chart);
    this.#chartButton.setAttribute('aria-pressed', String(view.chart !== null));
  }

  #rowsChanged(): void {
    const { total, problem } = this.#store;
    this.#table.refresh();
    this.#checkColumns();
    if (total !== null && this.#startAt !== null) {
      this.#table.element.focus({ preventScroll: true });
      this.#table.selection.activate({ row: this.#startAt, column: 0 });
      this.#startAt = null;
    }
    this.#drawCount();
    const isCovered = problem !== null && !this.#isKept(problem);
    const show = (part: Partial<View>): void => this.#show(part);
    const content = isCovered
      ? refusedRows(problem, { show, reload: () => this.#store.reload() })
      : total === 0
        ? emptyRows({
            data: this.#data,
            view: this.#view,
            firstRows: this.#writing?.firstRows() ?? null,
            show,
          })
        : [];
    this.#overlay.replaceChildren(...content);
    this.#overlay.hidden = content.length === 0;
    if (problem !== null && !isCovered) this.#tellLost(problem.status, problem.message);
  }

  /** Rows and edits stay visible when a refresh fails. */
  #isKept({ status }: RowsProblem): boolean {
    const isWriting =
      this.#writing?.cells.isTyping === true || (this.#writing?.cells.unsaved.size ?? 0) > 0;
    return this.#store.hasRows && (mayPass(status) || isWriting);
  }

  #tellLost(status: number, message = 'The file cannot be read any more.'): void {
    tellLost(this.#notices, { file: this.#data.file, status, message });
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
    if (isSame) return;
    this.#notices.show(`The columns of ${file} have changed.`, {
      label: 'Show them',
      run: () => location.reload(),
    });
  }

  #fileChanged(): void {
    this.#writing?.fileChanged();
    this.#store.reload();
    this.#refreshPanels();
    const isTyping = this.#writing?.cells.isTyping === true;
    this.#notices.show(
      `${this.#data.file} was changed by someone else. ${isTyping ? 'What you are typing is kept.' : 'These are the newest rows.'}`,
    );
  }

  #refreshPanels(): void {
    this.#values.refresh(true);
    this.#chart.refresh(true);
  }

  #searchFor(q: string): void {
    if (q !== this.#view.q) this.#show({ q }, true);
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
      closed: () => this.#table.element.focus({ preventScroll: true }),
      actions: {
        sort: (isDescending, isMore) =>
          this.#show(sortedBy(this.#view, { column: name, isDescending }, isMore)),
        filter: (member) => this.#filter(name, member),
        pin: () => this.#show(pinToggled(this.#view, name)),
        move: (by) => this.#showIf(columnMoved(shown, name, by)),
        hide: () => this.#showIf(columnHidden(shown, name)),
        values: () => {
          this.#show({ hasValues: true });
          this.#values.open(column);
        },
      },
    });
  }

  #chooseColumns(): void {
    const { pinned } = this.#view;
    openColumns(this.#data.columns, this.#table.columns, pinned, (choice) => this.#show(choice));
  }

  #drawChips(): void {
    const { filter, sort } = this.#view;
    const chips = chipsOf(
      { filter, sort },
      {
        change: (column, anchor) => this.#changeCondition(column, anchor),
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

  #changeCondition(name: string | null, anchor: HTMLElement): void {
    const column = this.#data.columns.find((one) => one.name === name);
    const member = name === null ? null : parseFilter(this.#view.filter)?.[name];
    if (column !== undefined && isInMenu(member, column)) this.#openMenu(column, anchor);
    else this.#editFilter();
  }

  #editFilter(text = this.#view.filter): void {
    openFilter(text, (filter) => this.#show({ filter }));
  }

  #openRow(row: GridRow): void {
    if (this.#writing !== null) this.#writing.rows.open(row);
    else {
      openRow({
        columns: this.#data.columns,
        title: rowTitle(row, this.#data.file),
        row,
        save: null,
        verb: '',
      });
    }
  }

  #copy(event: ClipboardEvent): void {
    const copied = copySelected(this.#table, event);
    if (copied !== null && copied.text !== '') this.#notices.show(copied.text);
  }

  #cut(event: ClipboardEvent): void {
    if (this.#writing === null) return;
    const copied = copySelected(this.#table, event);
    if (copied === null) return;
    if (copied.text !== '') this.#notices.show(copied.text);
    if (copied.isDone) this.#writing.cut();
  }
}
