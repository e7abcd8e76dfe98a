/**
 * One line that says what has just happened, with what can be done about it.
 */
import { make, quietButton } from './element.ts';

/** A thing to do about a message. */
export interface NoticeAction {
  readonly label: string;
  run(): void;
}

/** Longer than it takes to read; what can be undone stays until the next message. */
const SHOWN_MS = 8_000;

/** The line; screen readers hear it. */
export class Notices {
  readonly element = make('div', { class: 'grid-notice', role: 'status', 'aria-live': 'polite' });
  #timer = 0;
  #topic = '';

  constructor() {
    this.element.hidden = true;
  }

  /** Says something in the place of what was there; with a topic it can be taken back by it. */
  show(text: string, action: NoticeAction | null = null, topic = ''): void {
    clearTimeout(this.#timer);
    this.#topic = topic;
    const close = quietButton('×', () => this.hide(), {
      'aria-label': 'Close the message',
      class: 'plain',
    });
    this.element.hidden = false;
    this.element.replaceChildren(
      make('span', {}, text),
      action === null ? '' : quietButton(action.label, () => action.run()),
      close,
    );
    if (action === null && topic === '')
      this.#timer = setTimeout(() => this.hide(), SHOWN_MS) as unknown as number;
  }

  /** Takes the message away; given a topic, only one about it. */
  hide(topic?: string): void {
    if (topic !== undefined && topic !== this.#topic) return;
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
