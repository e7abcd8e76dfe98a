/**
 * The dataset page: joins the view in the address, the rows, the grid and the panels. Every change of the view goes through
 * `show`, which writes the address; whatever changes rows is in `writing.ts`.
 */
import { localNumber } from '../times.ts';
import { type Begun, findBegun, openForm } from './begun.ts';
import { Changes } from './changes.ts';
import { ChartPanel } from './chart-panel.ts';
import { copySelected } from './clipboard.ts';
import { openColumnMenu } from './column-menu.ts';
import { openColumns } from './columns-dialog.ts';
import { chipsOf } from './chips.ts';
import { isInMenu, parseFilter, withMember } from './conditions.ts';
import { make, makeDialog, quietButton } from './element.ts';
import { watchFile } from './live.ts';
import { countText, type GridColumn, type GridData, type GridRow } from './model.ts';
import { Notices, UNDONE } from './notices.ts';
import { sizeOf } from './places.ts';
import { openRow, rowTitle } from './row-dialog.ts';
import { startPrinting } from './printing.ts';
import { mayPass, type RowsProblem, RowStore } from './rows.ts';
import { exportMenu } from './export-menu.ts';
import { GridTable } from './table.ts';
import { ValuesPanel } from './values-panel.ts';
import { addressOf, readView, rowsQuery, shownColumns, type SortStep, type View } from './view.ts';
import { Writing } from './writing.ts';

const TYPING_PAUSE_MS = 250;
/** Messages about a file or server out of reach. */
const LOST = 'lost';
/** Messages about an address that asks for what is not there. */
const WRONG = 'wrong';

/** Takes the place of what the server sent below `root`. */
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
  readonly #search: HTMLInputElement;
  readonly #count = make('span', { class: 'row-count', role: 'status' });
  readonly #chips = make('ul', { class: 'chips', 'aria-label': 'Conditions and order' });
  readonly #overlay = make('div', { class: 'grid-overlay' });
  readonly #valuesButton: HTMLButtonElement;
  readonly #chartButton: HTMLButtonElement;
  #view: View;
  #typing = 0;
  /** Where to begin, until the rows are there. */
  #startAt: number | null;
  /** Version whose columns were compared with those of the page. */
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
        sort: (column, isMore) => this.#toggleSort(column, isMore),
        menu: (column, anchor) => this.#openMenu(column, anchor),
        edit: (place, text) => {
          const row = this.#store.at(place.row);
          if (row === undefined) return;
          if (this.#writing?.edit(place, text) !== true && text === null) this.#openRow(row);
        },
        open: (row) => this.#openRow(row),
        selectionChanged: () => {
          this.#writing?.selectionChanged();
          this.#drawCount();
        },
        unsaved: (row, column) => this.#writing?.unsaved.of(row, column),
        tooMany: (limit) =>
          this.#notices.show(
            `The first ${countText(limit)} of these are selected: more is for a download.`,
          ),
        fill: (fill, isCopy) => this.#writing?.fill(fill, isCopy),
        key: (event) => this.#writing?.key(event) ?? false,
      },
    });
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
    this.#writing = data.mayWrite ? this.#makeWriting() : null;
    this.#search = make('input', {
      type: 'search',
      'aria-label': 'Rows with these words',
      placeholder: 'Search words',
      'data-key': 'f',
      autocomplete: 'off',
    });
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
      this.#footer(),
    );
    this.#apply();
    this.#store.show(rowsQuery(this.#view));
    this.#goOn(begun);
    // The grid leaves out columns that are not there; a filter is refused where the rows would stand.
    if (/^Invalid (?:sort|columns)/.test(problem)) this.#notices.show(problem, null, WRONG);
    addEventListener('popstate', () => {
      this.#view = readView(location.search, this.#data.columns);
      // Words not searched yet would otherwise be searched in the view before.
      clearTimeout(this.#typing);
      this.#search.value = this.#view.q;
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
        this.#notices.hide(LOST);
        const { problem } = this.#store;
        if (problem !== null && mayPass(problem.status)) this.#store.reload();
        this.#writing?.tryAgain(mayPass);
      },
    });
  }

  /** Somebody was faster than this script. */
  #goOn({ words, caret, filter, form, field }: Begun): void {
    if (words !== null) {
      this.#search.value = words;
      this.#searchNow();
    }
    if (caret !== null) {
      this.#search.focus();
      this.#search.setSelectionRange(...caret);
    }
    openForm(
      { form, field },
      () => this.#view.filter,
      (view) => this.#show(view),
    );
    if (filter !== null) this.#editFilter(filter);
  }

  /** The keys of the rows lead into them from wherever nothing has the focus. */
  #enter(event: KeyboardEvent): void {
    const isElsewhere = event.target !== document.body || event.ctrlKey || event.metaKey;
    if (isElsewhere || event.altKey || !/^(?:Arrow|Page)/.test(event.key)) return;
    event.preventDefault();
    this.#table.element.focus({ preventScroll: true });
  }

  #makeWriting(): Writing {
    const changes = new Changes({
      api: this.#data.api,
      page: this.#data.page,
      columns: this.#data.columns,
      version: () => this.#store.version,
      changed: (version, written) => this.#writing?.versionChanged(version, written),
    });
    return new Writing({
      data: this.#data,
      store: this.#store,
      table: this.#table,
      notices: this.#notices,
      changes,
      rowsChanged: () => {
        this.#values.refresh(true);
        this.#chart.refresh(true);
      },
    });
  }

  #toolbar(): HTMLElement {
    const form = make('form', { class: 'grid-search', role: 'search' }, this.#search);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#searchNow();
    });
    this.#search.addEventListener('input', () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#searchNow(), TYPING_PAUSE_MS) as unknown as number;
    });
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
      form,
      make('div', { class: 'tool-group' }, columns, this.#valuesButton, this.#chartButton),
      this.#writing?.tools ?? null,
      make('div', { class: 'tool-group' }, ...more),
    );
  }

  #footer(): HTMLElement {
    const place = make('input', {
      type: 'number',
      min: 1,
      'aria-label': 'Go to row',
      placeholder: 'Go to row',
      'data-key': 'g',
    });
    const form = make('form', { class: 'go-to' }, place);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const row = Number(place.value) - 1;
      if (!Number.isInteger(row) || row < 0) return;
      this.#table.element.focus({ preventScroll: true });
      this.#table.selection.activate({
        row,
        column: Math.max(0, this.#table.selection.active.column),
      });
    });
    return make('div', { class: 'grid-foot' }, this.#count, form);
  }

  /** Changes the view; the address follows, so that Back leads to the view before. */
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

  #apply(): void {
    const view = this.#view;
    if (document.activeElement !== this.#search) this.#search.value = view.q;
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
    const content = isCovered ? this.#problem(problem) : total === 0 ? this.#empty() : [];
    this.#overlay.replaceChildren(...content);
    this.#overlay.hidden = content.length === 0;
    if (problem !== null && !isCovered) this.#tellLost(problem.status, problem.message);
  }

  /** Rows that are there, and what is being typed among them, stay in sight when newer ones cannot be had. */
  #isKept({ status }: RowsProblem): boolean {
    const isWriting = this.#writing?.isTyping === true || (this.#writing?.unsaved.size ?? 0) > 0;
    return this.#store.hasRows && (mayPass(status) || isWriting);
  }

  #tellLost(status: number, message = 'The file cannot be read any more.'): void {
    const { notices, page } = { notices: this.#notices, page: location };
    if (notices.isAbout(UNDONE)) return;
    if (status === 401) {
      const address = `/auth/login?next=${encodeURIComponent(page.pathname + page.search)}`;
      const signIn = { label: 'Sign in', run: () => void open(address, '_blank', 'noopener') };
      const text = 'You are signed out. Sign in again in another tab: what is here is kept.';
      notices.show(text, signIn, LOST);
    } else if (status === 0) {
      notices.show('The server cannot be reached. Trying again…', null, LOST);
    } else if (status === 404) {
      notices.show(`${this.#data.file} is gone: it was moved or deleted.`, null, LOST);
    } else notices.show(message, null, LOST);
  }

  #drawCount(): void {
    const { total } = this.#store;
    const { size } = this.#table.selection.rows;
    const isCut =
      this.#view.columns === null && this.#data.columns.length > this.#table.columns.length;
    const columns = isCut
      ? ` · the first ${this.#table.columns.length} of ${localNumber(this.#data.columns.length)} columns`
      : '';
    const chosen = size > 0 ? ` · ${localNumber(size)} selected` : this.#blockText();
    this.#count.textContent = total === null ? '' : countText(total) + columns + chosen;
  }

  #blockText(): string {
    const { block } = this.#table.selection;
    if (block === null) return '';
    const { rows, cells } = sizeOf(block);
    return ` · ${countText(cells, 'cell')} in ${countText(rows)} selected`;
  }

  #problem({ status, message }: { status: number; message: string }): Node[] {
    const isView = status === 422 && /^Invalid (?:filter|sort)/.test(message);
    const again = isView
      ? quietButton('Show all rows', () => this.#show({ filter: '', sort: [], q: '' }))
      : quietButton('Try again', () => this.#store.reload());
    const signIn =
      status === 401
        ? make(
            'a',
            { href: `/auth/login?next=${encodeURIComponent(location.pathname + location.search)}` },
            'Sign in',
          )
        : null;
    return [make('p', { class: 'problem', role: 'alert' }, message), make('p', {}, again, signIn)];
  }

  #empty(): Node[] {
    const { q, filter } = this.#view;
    if (this.#data.columns.length === 0) {
      const text = `${this.#data.file} is empty: it has no columns. Its first line should name them.`;
      return [make('p', { class: 'empty' }, text)];
    }
    if (q === '' && filter === '') {
      const none = `${this.#data.file} has no rows yet.`;
      if (this.#writing !== null) {
        return [make('p', { class: 'empty' }, none), waysOn(...this.#writing.firstRows())];
      }
      const text = `${none} You may read it, not change it: rows that others add appear here by themselves.`;
      return [make('p', { class: 'empty' }, text)];
    }
    const hasBoth = q !== '' && filter !== '';
    return [
      make('p', { class: 'empty' }, 'No rows match.'),
      waysOn(
        hasBoth ? quietButton('Clear the search', () => this.#show({ q: '' })) : null,
        hasBoth ? quietButton('Clear the filter', () => this.#show({ filter: '' })) : null,
        quietButton('Show all rows', () => this.#show({ filter: '', q: '' })),
      ),
    ];
  }

  /** The columns came with the page; a file that has others now needs another page. */
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
    this.#values.refresh(true);
    this.#chart.refresh(true);
    const isTyping = this.#writing?.isTyping === true;
    this.#notices.show(
      `${this.#data.file} was changed by someone else. ${isTyping ? 'What you are typing is kept.' : 'These are the newest rows.'}`,
    );
  }

  #searchNow(): void {
    clearTimeout(this.#typing);
    const q = this.#search.value.trim();
    if (q !== this.#view.q) this.#show({ q }, true);
  }

  #filter(column: string, member: unknown): void {
    this.#show({ filter: withMember(this.#view.filter, column, member) });
  }

  #toggleSort(column: GridColumn, isMore: boolean): void {
    const present = this.#view.sort.find((step) => step.column === column.name);
    // Upwards, downwards, as in the file.
    const next: SortStep[] =
      present === undefined
        ? [{ column: column.name, isDescending: false }]
        : present.isDescending
          ? []
          : [{ column: column.name, isDescending: true }];
    if (!isMore) return this.#show({ sort: next });
    const at = this.#view.sort.indexOf(present!);
    const sort = [...this.#view.sort];
    if (at < 0) sort.push(...next);
    else sort.splice(at, 1, ...next);
    this.#show({ sort });
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
        sort: (isDescending, isMore) => {
          const others = isMore ? this.#view.sort.filter((step) => step.column !== name) : [];
          this.#show({ sort: [...others, { column: name, isDescending }] });
        },
        filter: (member) => this.#filter(name, member),
        pin: () => {
          const { pinned } = this.#view;
          const isPinned = pinned.includes(name);
          this.#show({
            pinned: isPinned ? pinned.filter((one) => one !== name) : [...pinned, name],
          });
        },
        move: (by) => {
          const at = shown.indexOf(name);
          if (at < 0) return;
          const columns = shown.toSpliced(at, 1).toSpliced(Math.max(0, at + by), 0, name);
          this.#show({ columns });
        },
        hide: () => {
          if (shown.length > 1) this.#show({ columns: shown.filter((one) => one !== name) });
        },
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

  /** What the menu of a column has words for is changed there, all else as JSON. */
  #changeCondition(name: string | null, anchor: HTMLElement): void {
    const column = this.#data.columns.find((one) => one.name === name);
    const member = name === null ? null : parseFilter(this.#view.filter)?.[name];
    if (column !== undefined && isInMenu(member, column)) this.#openMenu(column, anchor);
    else this.#editFilter();
  }

  #editFilter(text = this.#view.filter): void {
    const box = make('textarea', {
      rows: 5,
      'aria-label': 'Filter as a JSON object',
      spellcheck: 'false',
      class: 'code',
    });
    box.value = text;
    box.placeholder = '{"price":{"$gt":50}}';
    const form = make(
      'form',
      {},
      box,
      make(
        'p',
        { class: 'dialog-actions' },
        make('button', { type: 'submit', class: 'small' }, 'Filter'),
        quietButton('Cancel', () => dialog.close()),
      ),
    );
    const dialog = makeDialog('Filter as JSON', form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      dialog.close();
      this.#show({ filter: box.value.trim() });
    });
    dialog.showModal();
  }

  #openRow(row: GridRow): void {
    if (this.#writing !== null) this.#writing.openRow(row);
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

  /** Copies, and then empties or deletes by the rules for that; without a right to write there is nothing to cut. */
  #cut(event: ClipboardEvent): void {
    if (this.#writing === null) return;
    const copied = copySelected(this.#table, event);
    if (copied === null) return;
    if (copied.text !== '') this.#notices.show(copied.text);
    if (copied.isDone) this.#writing.cut();
  }
}

/** Buttons below the words about a table that shows no rows. */
function waysOn(...ways: (HTMLElement | null)[]): HTMLElement {
  return make('div', { class: 'tool-group' }, ...ways);
}
