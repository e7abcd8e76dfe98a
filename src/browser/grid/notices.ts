/** A single status line with optional actions. */
import { make, quietButton } from './element.ts';

interface NoticeAction {
  readonly label: string;
  run(): void;
}

export const UNDONE = 'undone';

/** Longer than it takes to read; messages with undo stay until the next one. */
const SHOWN_MS = 8_000;

export class Notices {
  readonly element = make('div', { class: 'grid-notice', role: 'status', 'aria-live': 'polite' });
  #timer = 0;
  #topic = '';

  readonly #left: () => void;

  /** `left` is called before a button of the line disappears, so that the focus can move. */
  constructor(left: () => void) {
    this.#left = left;
    this.element.hidden = true;
  }

  show(text: string, action: NoticeAction | null = null, topic = ''): void {
    clearTimeout(this.#timer);
    this.#topic = topic;
    const pressed = (run: () => void) => (): void => {
      this.#left();
      run();
    };
    const hide = pressed(() => this.hide());
    const close = quietButton('×', hide, {
      'aria-label': 'Close the message',
      class: 'plain',
    });
    this.element.hidden = false;
    this.element.replaceChildren(
      make('span', {}, text),
      action === null
        ? ''
        : quietButton(
            action.label,
            pressed(() => action.run()),
          ),
      close,
    );
    if (action === null && topic === '')
      this.#timer = setTimeout(() => this.hide(), SHOWN_MS) as unknown as number;
  }

  isAbout(topic: string): boolean {
    return !this.element.hidden && this.#topic === topic;
  }

  /** With a topic, hides only a message of that topic. */
  hide(topic?: string): void {
    if (topic !== undefined && topic !== this.#topic) return;
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
