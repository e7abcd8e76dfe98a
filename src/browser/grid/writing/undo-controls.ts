/** Undo and redo: buttons and messages. */
import { quietButton } from '../element.ts';
import type { Notices } from '../notices.ts';
import { ChangeRefused, messageOf } from './row-requests.ts';
import type { UndoHistory } from './undo-history.ts';

interface UndoControlsOptions {
  readonly history: UndoHistory;
  readonly notices: Notices;
  readonly file: string;
  run<T>(change: () => Promise<T>): Promise<T>;
  changed(): void;
}

export class UndoControls {
  readonly buttons: readonly HTMLButtonElement[];
  readonly #options: UndoControlsOptions;
  readonly #undoButton: HTMLButtonElement;
  readonly #redoButton: HTMLButtonElement;

  constructor(options: UndoControlsOptions) {
    this.#options = options;
    this.#undoButton = quietButton('Undo', () => void this.undo(), { 'data-action': 'Undo' });
    this.#redoButton = quietButton('Redo', () => void this.redo(), { 'data-action': 'Redo' });
    this.buttons = [this.#undoButton, this.#redoButton];
    this.draw();
  }

  undo(): Promise<void> {
    return this.#step(false);
  }

  redo(): Promise<void> {
    return this.#step(true);
  }

  /** A message with a topic outlasts messages about the server. */
  offer(text: string, topic = ''): void {
    this.#options.notices.show(text, { label: 'Undo', run: () => void this.undo() }, topic);
  }

  draw(): void {
    const { nextUndo, nextRedo } = this.#options.history;
    this.#undoButton.disabled = nextUndo === null;
    this.#undoButton.title = nextUndo === null ? 'Nothing to undo' : `Undo ${nextUndo.label}`;
    this.#redoButton.hidden = nextRedo === null;
    this.#redoButton.title = nextRedo === null ? '' : `Redo ${nextRedo.label}`;
  }

  async #step(isRedo: boolean): Promise<void> {
    const { history, notices, file, run, changed } = this.#options;
    try {
      const label = await run(() => (isRedo ? history.redo() : history.undo()));
      if (label === null) {
        notices.show(`There is nothing to ${isRedo ? 'redo' : 'undo'}.`);
        return;
      }
      changed();
      const isAgain = label.startsWith('the deletion') && !isRedo;
      notices.show(
        `${isRedo ? 'Redid' : 'Undid'} ${label}.${isAgain ? ' What was deleted is put back at the end of the file, with new numbers.' : ''}`,
      );
    } catch (error) {
      const isConflict = error instanceof ChangeRefused && error.status === 412;
      const reason =
        isConflict && !messageOf(error).startsWith('Row ')
          ? `${file} was changed by someone else meanwhile.`
          : messageOf(error);
      notices.show(`Not ${isRedo ? 'redone' : 'undone'}: ${reason}`);
      if (isConflict) history.doubt();
      this.draw();
    }
  }
}
