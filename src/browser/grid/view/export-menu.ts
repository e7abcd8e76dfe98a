import type { GridData } from '../../../pages/grid/model.ts';
import { joinNames } from '../../../tables/read/name-list.ts';
import { closer, make, openMenu, quietButton } from '../../shared/element.ts';

interface ExportOptions {
  readonly data: GridData;
  address(): string;
  query(): URLSearchParams;
  columns(): readonly string[] | null;
  editFilter(): void;
}

const FORMATS = [
  ['CSV', 'csv'],
  ['NDJSON', 'ndjson'],
  ['Excel (XLSX)', 'xlsx'],
  ['Parquet', 'parquet'],
] as const;

export function exportMenu(options: ExportOptions): HTMLElement {
  const attributes = { class: 'column-menu', 'aria-label': 'Take this view along' };
  const open = (): void => {
    openMenu(button, () => button.focus(), attributes, make('div.menu-items', itemsOf(options)));
  };
  const button = quietButton('Export', open, { 'aria-haspopup': 'dialog' });
  return button;
}

/** Of the schema too. */
function momentIn(query: URLSearchParams): string {
  const at = query.get('at');
  return at === null ? '' : `?${new URLSearchParams({ at })}`;
}

function itemsOf({ data, address, query, columns, editFilter }: ExportOptions): HTMLElement[] {
  const shown = query();
  const names = columns();
  if (names !== null) shown.set('columns', joinNames(names));
  const addressOf = (format: string): string => {
    const whole = new URLSearchParams(shown);
    if (format !== '') whole.set('format', format);
    return whole.size === 0 ? data.api : `${data.api}?${whole}`;
  };
  const copy = (label: string, what: Record<string, string>): HTMLElement =>
    make('button.plain.small', { type: 'button', ...what }, label);
  const link = (label: string, href: string): HTMLElement => make('a', { href }, label);
  return [
    copy('Copy the address of this view', { 'data-copy': 'text', 'data-text': address() }),
    copy('Copy as curl', { 'data-copy': 'curl', 'data-from': addressOf('') }),
    link('Open JSON', addressOf('')),
    link('Schema', data.api.replace('/api/', '/schema/') + momentIn(query())),
    ...(data.layoutHref === null ? [] : [link('How the file is read', data.layoutHref)]),
    ...(data.historyHref === null ? [] : [link('History', data.historyHref)]),
    ...(data.isFixed ? [] : [closer('Filter as JSON…', editFilter, { class: 'plain small' })]),
    make('p.fine', 'Download what is shown'),
    ...FORMATS.map(([label, format]) => {
      const download = { download: '', 'data-download': data.isLarge ? null : label };
      return make('a', { href: addressOf(format), ...download }, label);
    }),
  ];
}
