/** @jsxImportSource @kitajs/html */
import { shortWords } from '../grid/filter-words.ts';
import type { GridData } from '../grid/model.ts';
import { FORM_OPERATORS } from '../grid/plain-form.ts';
import { HiddenFields, SearchBox } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { trailTo } from '../addresses.ts';
import type { Page } from '../frame.tsx';

const KEYS = [
  'Arrows Move between cells; Page Up, Page Down, Home, End go further',
  'Enter Edit the cell, or show the row',
  'Tab Keep the value and edit the next cell',
  'Esc Leave the cell as it was',
  'Shift+Arrows Select a block of cells',
  'Space Select the row, or the rows of the block',
  'Ctrl+A Select all rows',
  'Ctrl+C Copy the cell, the block or the selected rows',
  'Ctrl+X Cut the cell, the block or the selected rows',
  'Ctrl+V Paste over the cells from here on, or add rows of a spreadsheet',
  'Ctrl+D Fill the block with its first row, or the cell with the one above; its corner is pulled for more',
  'Delete Empty the cell or the block, or delete the selected rows',
  'Ctrl+Z Undo',
  'Ctrl+Y Redo',
  'Shift+Enter Show the row',
  'Alt+↓ Open the menu of the column',
];
const WRITING_KEYS = /^(?:Tab|Esc|Ctrl\+[VDX]|Delete|Ctrl\+[ZY])/;

export interface ColumnHead {
  readonly name: string;
  readonly type: string;
  /** Null when the address would be too long. */
  readonly sortHref: string | null;
  readonly sorted: 'ascending' | 'descending' | null;
}

interface TableRow {
  readonly id: string;
  readonly href: string;
  readonly cells: readonly string[];
}

export interface DatasetView {
  readonly name: string;
  readonly q: string;
  readonly filter: string;
  readonly sort: string;
  /** Null when the address would be too long. */
  readonly conditions: readonly { readonly text: string; readonly href: string | null }[];
  readonly kept: readonly (readonly [name: string, value: string])[];
  readonly order: readonly { readonly column: string; readonly isDescending: boolean }[];
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly TableRow[];
  /** Without script; null for readers. */
  readonly newHref: string | null;
  /** `1–50 of 3,376 rows`. */
  readonly position: string;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  readonly links: readonly { readonly label: string; readonly href: string }[];
  /** The row of totals in words. */
  readonly total: string | null;
  /** What columns of text may be, and the page where that is said. */
  readonly hints: readonly {
    readonly columns: string;
    readonly meaning: string;
    readonly href: string;
  }[];
  readonly problem: string | null;
  /** These rows were; null: they are. */
  readonly then: {
    readonly name: string;
    readonly presentHref: string;
    readonly historyHref: string;
  } | null;
  readonly readOnly: string | null;
  /** Cells without a result. */
  readonly uncalculated: number;
  /** Where they can be calculated; null for those who may not say so. */
  readonly calculateHref: string | null;
  readonly grid: GridData;
}

function uncalculatedText(count: number): string {
  const [cells, them] =
    count === 1
      ? ['1 cell is not calculated and shows its formula', 'it']
      : [`${count.toLocaleString('en')} cells are not calculated and show their formulas`, 'them'];
  return `${cells}: Excel or LibreOffice calculates ${them} when the file is opened and saved there.`;
}

export const datasetPage: Page<DatasetView> = {
  name: 'dataset',
  layout: 'wide',
  title: ({ name }) => name.slice(name.lastIndexOf('/') + 1),
  styles: ['uplot.css', 'grid.css'],
  scripts: ['grid.js'],
  trail: ({ name }) => trailTo(name),
  shares: ({ name }) => name,
  content: (view, frame) => (
    <>
      {view.then !== null && (
        <p class="notice">
          As it was after <span safe>{view.then.name}</span>, and nothing here can be changed.{' '}
          <a href={view.then.presentHref}>As it is now</a>{' '}
          <a href={view.then.historyHref}>The change</a>
        </p>
      )}
      {view.readOnly !== null && (
        <p class="fine" safe>
          {view.readOnly}
        </p>
      )}
      {view.uncalculated > 0 && (
        <p class="notice">
          <span safe>{uncalculatedText(view.uncalculated)}</span>{' '}
          {view.calculateHref !== null && <a href={view.calculateHref}>Calculate here</a>}
        </p>
      )}
      {view.total !== null && (
        <p class="fine" safe>
          {view.total}
        </p>
      )}
      {view.hints.length > 0 && (
        <p class="notice">
          {view.hints.map(({ columns, meaning, href }) => (
            <span>
              <span safe>{columns}</span> may be <span safe>{meaning}</span>.{' '}
              <a href={href}>Read it so</a>{' '}
            </span>
          ))}
        </p>
      )}
      {view.grid.columns.length === 1 && view.grid.layoutHref !== null && (
        <p class="notice">
          This file reads as one column. <a href={view.grid.layoutHref}>See its lines and choose</a>
        </p>
      )}
      <div id="dataset" data-grid={JSON.stringify(view.grid)} data-keys={keysOf(view.grid)}>
        {!view.grid.isFixed && <Search view={view} path={frame.path} />}
        {!view.grid.isFixed && <ViewForm view={view} path={frame.path} />}
        <Conditions view={view} />
        <Problem text={view.problem} />
        <p class="fine" role="status" safe>
          {view.position}
        </p>
        {view.rows.length === 0 && (view.q !== '' || view.filter !== '') && (
          <p>
            <a href={frame.path}>Show all rows</a>
          </p>
        )}
        <Rows view={view} />
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
        {view.newHref !== null && (
          <p class="below-rows">
            <a class="button quiet" href={view.newHref}>
              Add a row
            </a>{' '}
            <span class="fine">The number of a row leads to where it is changed or deleted.</span>
          </p>
        )}
        <p class="fine downloads">
          {view.links.map(({ label, href }) => (
            <a href={href} safe>
              {label}
            </a>
          ))}
          {view.grid.layoutHref !== null && <a href={view.grid.layoutHref}>How it is read</a>}
          {view.grid.historyHref !== null && <a href={view.grid.historyHref}>History</a>}
        </p>
      </div>
    </>
  ),
};

function keysOf({ mayWrite }: GridData): string {
  return KEYS.filter((key) => mayWrite || !WRITING_KEYS.test(key))
    .map((key) => (mayWrite ? key : key.replace('Edit the cell, or show', 'Show')))
    .join('\n');
}

function Search({ view, path }: { view: DatasetView; path: string }) {
  return (
    <form class="filter query" method="get" action={path} role="search">
      {view.sort !== '' && <input type="hidden" name="sort" value={view.sort} />}
      <SearchBox
        label="Rows with these words"
        name="q"
        value={view.q}
        placeholder="Search words"
        autocomplete={undefined}
      />
      <SearchBox
        label="Filter as a JSON object"
        type="text"
        name="filter"
        value={view.filter}
        placeholder={'Filter, e.g. {"price":{"$gt":50}}'}
        spellcheck="false"
      />
      <button class="quiet" type="submit">
        Apply
      </button>
    </form>
  );
}

/** The server turns them into API parameters. */
function ViewForm({ view, path }: { view: DatasetView; path: string }) {
  const names = view.grid.columns.map(({ name }) => name);
  if (names.length === 0) return '';
  const steps = [...view.order, null, null, null].slice(0, Math.max(3, view.order.length + 1));
  const isListed = names.length * steps.length > MAX_OPTIONS;
  return (
    <details class="view-form">
      <summary>Filter and sort</summary>
      <form method="get" action={path}>
        <HiddenFields fields={view.kept} />
        <fieldset>
          <legend>Only rows where</legend>
          <ColumnSelect
            {...{ names, isListed }}
            name="where"
            label="Column"
            chosen=""
            none="no column"
          />
          <select name="is" aria-label="Condition">
            {FORM_OPERATORS.map(([value, label]) => (
              <option value={value} safe>
                {label}
              </option>
            ))}
          </select>
          <input type="text" name="value" aria-label="Value" autocomplete="off" />
        </fieldset>
        {isListed && <ColumnNames names={names} />}
        {steps.map((step, index) => (
          <fieldset>
            <legend>{index === 0 ? 'Sort by' : 'then by'}</legend>
            <ColumnSelect
              name="by"
              label={index === 0 ? 'Sort by' : `Then by (${index + 1})`}
              {...{ names, isListed }}
              chosen={step?.column ?? ''}
              none="as in the file"
            />
            <select name="way" aria-label={`Direction ${index + 1}`}>
              <option value="asc">upwards ↑</option>
              <option value="desc" selected={step?.isDescending === true}>
                downwards ↓
              </option>
            </select>
          </fieldset>
        ))}
        <button class="quiet" type="submit">
          Show
        </button>
      </form>
    </details>
  );
}

/** With more options the names are listed once in the page, and boxes suggest them. */
const MAX_OPTIONS = 2_000;

function ColumnNames({ names }: { names: readonly string[] }) {
  return (
    <datalist id="column-names">
      {names.map((value) => (
        <option {...{ value }}></option>
      ))}
    </datalist>
  );
}

function ColumnSelect(props: {
  name: string;
  label: string;
  names: readonly string[];
  chosen: string;
  none: string;
  isListed: boolean;
}) {
  const { name, label, names, chosen, none, isListed } = props;
  if (isListed) {
    return (
      <input name={name} aria-label={label} value={chosen} placeholder={none} list="column-names" />
    );
  }
  const isOther = chosen !== '' && !names.includes(chosen);
  return (
    <select name={name} aria-label={label}>
      <option value="" safe>
        {none}
      </option>
      {(isOther ? [...names, chosen] : names).map((one) => (
        <option value={one} selected={one === chosen} safe>
          {one}
        </option>
      ))}
    </select>
  );
}

function Conditions({ view }: { view: DatasetView }) {
  if (view.conditions.length === 0) return '';
  return (
    <ul class="conditions" aria-label="Conditions">
      {view.conditions.map(({ text, href }) => (
        <li>
          <span title={text} safe>
            {shortWords(text)}
          </span>{' '}
          {href !== null && (
            <a {...{ href }} aria-label={`Remove the filter ${shortWords(text)}`}>
              Remove
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function Rows({ view }: { view: DatasetView }) {
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={`Rows of ${view.name}`}>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col" class="number">
              #
            </th>
            {view.columns.map((column) => (
              <th
                scope="col"
                class={isNumeric(column) ? 'number' : undefined}
                aria-sort={column.sorted ?? undefined}
              >
                <SortLink column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.rows.map(({ id, href, cells }) => (
            <tr>
              <td class="number fine">
                {view.grid.isFixed || view.then !== null ? (
                  <span safe>{id}</span>
                ) : (
                  <a href={href} aria-label={`Row ${id}`} safe>
                    {id}
                  </a>
                )}
              </td>
              {cells.map((cell, index) => (
                <td class={isNumeric(view.columns[index]!) ? 'number' : undefined} safe>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SortLink({ column }: { column: ColumnHead }) {
  const { sortHref: href, type, name } = column;
  if (href === null) return <span safe>{name + arrowOf(column)}</span>;
  return (
    <a {...{ href }} title={type} safe>
      {name + arrowOf(column)}
    </a>
  );
}

function isNumeric({ type }: ColumnHead): boolean {
  return type === 'integer' || type === 'number';
}

function arrowOf({ sorted }: ColumnHead): string {
  if (sorted === null) return '';
  return sorted === 'ascending' ? ' ↑' : ' ↓';
}
