/** The view's address, its API request, and downloads. */
import { copied, curlOf } from '../../shared/copying.ts';
import { placeBelow } from './column-menu.ts';
import { make, makeDialog, quietButton } from '../element.ts';
import type { GridData } from '../../../pages/grid/model.ts';
import type { Notices } from '../notices.ts';
import { joinNames } from '../../../pages/grid/view.ts';

interface ExportOptions {
  readonly data: GridData;
  address(): string;
  query(): URLSearchParams;
  columns(): readonly string[] | null;
  readonly notices: Notices;
  editFilter(): void;
}

const FORMATS = [
  ['CSV', 'csv'],
  ['NDJSON', 'ndjson'],
  ['Excel (XLSX)', 'xlsx'],
  ['Parquet', 'parquet'],
] as const;

export function exportMenu(options: ExportOptions): HTMLElement[] {
  const menu = make('div', {
    class: 'column-menu',
    popover: 'auto',
    role: 'dialog',
    'aria-label': 'Take this view along',
  });
  const button = quietButton(
    'Export',
    () => {
      menu.replaceChildren(...itemsOf(options, () => menu.hidePopover()));
      menu.showPopover();
      placeBelow(menu, button);
      menu.querySelector<HTMLElement>('button, a')?.focus();
    },
    { 'aria-haspopup': 'dialog' },
  );
  return [button, menu];
}

function itemsOf(options: ExportOptions, close: () => void): Node[] {
  const { data, notices } = options;
  const query = options.query();
  const columns = options.columns();
  if (columns !== null) query.set('columns', joinNames(columns));
  const addressOf = (format: string): string => {
    const whole = new URLSearchParams(query);
    if (format !== '') whole.set('format', format);
    return whole.size === 0 ? data.api : `${data.api}?${whole}`;
  };
  const copy = (label: string, text: string): HTMLElement =>
    quietButton(
      label,
      () => {
        close();
        void copyText(text, notices);
      },
      { class: 'plain small' },
    );
  return [
    make(
      'div',
      { class: 'menu-items' },
      copy('Copy the address of this view', options.address()),
      copy('Copy as curl', curlOf(addressOf(''))),
      make('a', { href: addressOf('') }, 'Open JSON'),
      make('a', { href: data.api.replace(/^\/api\//, '/schema/') }, 'Schema'),
      quietButton(
        'Filter as JSON…',
        () => {
          close();
          options.editFilter();
        },
        { class: 'plain small' },
      ),
      make('p', { class: 'fine' }, 'Download what is shown'),
      ...FORMATS.map(([label, format]) =>
        make(
          'a',
          { href: addressOf(format), download: '', 'data-download': data.isLarge ? null : label },
          label,
        ),
      ),
    ),
  ];
}

/**
 * Browsers refuse the clipboard on pages without TLS; then the text is shown for copying by hand.
 */
async function copyText(text: string, notices: Notices): Promise<void> {
  if (await copied(text)) {
    notices.show('Copied.');
    return;
  }
  const box = make('textarea', {
    rows: 4,
    readonly: true,
    'aria-label': 'To be copied',
    class: 'code',
  });
  box.value = text;
  const dialog = makeDialog(
    'Copy this',
    box,
    make(
      'p',
      { class: 'dialog-actions' },
      quietButton('Close', () => dialog.close()),
    ),
  );
  dialog.showModal();
  box.select();
}
