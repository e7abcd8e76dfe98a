/** A single status line with optional actions. */
import { BASE } from '../shared/site.ts';
import { make, quietButton } from '../shared/element.ts';

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

export function signInAddress(): string {
  return `${BASE}/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}
