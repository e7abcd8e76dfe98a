/** A single status line with optional actions. */
import { BASE } from '../shared/site.ts';
import { make, quietButton } from '../shared/element.ts';
import type { GridData } from '../../pages/grid/model.ts';
import type { View } from '../../pages/grid/view.ts';
import type { Refused } from '../shared/ask.ts';

interface NoticeAction {
  readonly label: string;
  run(): void;
}

export const UNDONE = 'undone';
const LOST = 'lost';

/** Longer than it takes to read; messages with undo stay until the next one. */
const SHOWN_MS = 8_000;

export class Notices {
  readonly element = make('div.grid-notice', {
    role: 'status',
    'aria-live': 'polite',
    hidden: true,
  });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #topic = '';
  readonly #left: () => void;

  /** `left` is called before a button of the line disappears, so that the focus can move. */
  constructor(left: () => void) {
    this.#left = left;
  }

  show(text: string, action: NoticeAction | null = null, topic = ''): void {
    clearTimeout(this.#timer);
    this.#topic = topic;
    const button = (label: string, run: () => void, attributes = {}): HTMLElement => {
      const press = (): void => {
        this.#left();
        run();
      };
      return quietButton(label, press, attributes);
    };
    const close = { 'aria-label': 'Close the message', class: 'plain' };
    this.element.hidden = false;
    this.element.replaceChildren(
      make('span', text),
      action === null ? '' : button(action.label, () => action.run()),
      button('×', () => this.hide(), close),
    );
    if (action === null && topic === '') this.#timer = setTimeout(() => this.hide(), SHOWN_MS);
  }

  /** With a topic, hides only a message of that topic. */
  hide(topic?: string): void {
    if (topic !== undefined && topic !== this.#topic) return;
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  /** The file is out of reach. `message` is shown where the status has no wording here. */
  tellLost(file: string, { status, message }: { status: number; message: string }): void {
    if (!this.element.hidden && this.#topic === UNDONE) return;
    const signIn = {
      label: 'Sign in',
      run: () => void open(signInAddress(), '_blank', 'noopener'),
    };
    const texts: Readonly<Record<number, string>> = {
      0: 'The server cannot be reached. Trying again…',
      401: 'You are signed out. Sign in again in another tab: what is here is kept.',
      404: `${file} is gone: it was moved or deleted.`,
    };
    this.show(texts[status] ?? message, status === 401 ? signIn : null, LOST);
  }

  tellFound(): void {
    this.hide(LOST);
  }
}

function signInAddress(): string {
  return `${BASE}/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}

interface NoRowsOptions {
  readonly data: GridData;
  readonly view: View;
  /** Controls for adding the first rows; null without write access. */
  readonly firstRows: readonly HTMLElement[] | null;
  show(part: Partial<View>): void;
}

export function emptyRows({ data, view, firstRows, show }: NoRowsOptions): Node[] {
  const { q, filter } = view;
  const said = (text: string, ...ways: readonly HTMLElement[]): Node[] => {
    const told = make('p.empty', text);
    return ways.length === 0 ? [told] : [told, make('div.tool-group', ways)];
  };
  if (data.columns.length === 0) {
    return said(`${data.file} is empty: it has no columns. Its first line should name them.`);
  }
  if (q === '' && filter === '') {
    const none = `${data.file} has no rows yet.`;
    if (firstRows !== null) return said(none, ...firstRows);
    return said(
      `${none} You may read it, not change it: rows that others add appear here by themselves.`,
    );
  }
  const way = (label: string, part: Partial<View>): HTMLElement =>
    quietButton(label, () => show(part));
  const all = way('Show all rows', { filter: '', q: '' });
  if (q === '' || filter === '') return said('No rows match.', all);
  const one = [way('Clear the search', { q: '' }), way('Clear the filter', { filter: '' })];
  return said('No rows match.', ...one, all);
}

export function refusedRows(
  { status, message }: Refused,
  { show, reload }: Pick<NoRowsOptions, 'show'> & { reload(): void },
): Node[] {
  const isView = status === 422 && /^Invalid (?:filter|sort)/.test(message);
  const again = isView
    ? quietButton('Show all rows', () => show({ filter: '', sort: [], q: '' }))
    : quietButton('Try again', reload);
  const signIn = status === 401 ? make('a', { href: signInAddress() }, 'Sign in') : null;
  return [make('p.problem', { role: 'alert' }, message), make('p', again, signIn)];
}
