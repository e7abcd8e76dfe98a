/**
 * One line that says what has just happened, with what can be done about it.
 */
import { make, quietButton } from './element.ts';

/** A thing to do about a message. */
interface NoticeAction {
  readonly label: string;
  run(): void;
}

/** Messages about a change that was not made: they stay when the reason for it is told too. */
export const UNDONE = 'undone';

/** Longer than it takes to read; what can be undone stays until the next message. */
const SHOWN_MS = 8_000;

/** The line; screen readers hear it. */
export class Notices {
  readonly element = make('div', { class: 'grid-notice', role: 'status', 'aria-live': 'polite' });
  #timer = 0;
  #topic = '';

  readonly #left: () => void;

  /** `left` is told before a button of the line does its work and is gone: the focus has to be somewhere. */
  constructor(left: () => void) {
    this.#left = left;
    this.element.hidden = true;
  }

  /** Says something in the place of what was there; with a topic it can be taken back by it. */
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

  /** Whether a message about this is there. */
  isAbout(topic: string): boolean {
    return !this.element.hidden && this.#topic === topic;
  }

  /** Takes the message away; given a topic, only one about it. */
  hide(topic?: string): void {
    if (topic !== undefined && topic !== this.#topic) return;
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
