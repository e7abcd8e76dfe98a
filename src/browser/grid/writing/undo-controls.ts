/** Undo and redo: buttons and messages. */
import { isConflict, messageOf } from '../../shared/ask.ts';
import { quietButton } from '../../shared/element.ts';
import type { Notices } from '../notices.ts';
import type { UndoHistory } from './undo-history.ts';

interface UndoControlsOptions {
  readonly history: UndoHistory;
  readonly notices: Notices;
  readonly file: string;
  /** A step has changed rows. */
  stepped(): void;
}

export class UndoControls {
  readonly buttons: readonly [undo: HTMLButtonElement, redo: HTMLButtonElement];
  readonly #options: UndoControlsOptions;

  constructor(options: UndoControlsOptions) {
    this.#options = options;
    const button = (name: string, isRedo: boolean): HTMLButtonElement =>
      quietButton(name, () => void this.step(isRedo), { 'data-action': name });
    this.buttons = [button('Undo', false), button('Redo', true)];
    this.draw();
  }

  /** A message with a topic outlasts messages about the server. */
  offer(text: string, topic = ''): void {
    this.#options.notices.show(text, { label: 'Undo', run: () => void this.step(false) }, topic);
  }

  draw(): void {
    const { nextUndo, nextRedo } = this.#options.history;
    const [undo, redo] = this.buttons;
    undo.disabled = nextUndo === null;
    undo.title = nextUndo === null ? 'Nothing to undo' : `Undo ${nextUndo.label}`;
    redo.hidden = nextRedo === null;
    redo.title = nextRedo === null ? '' : `Redo ${nextRedo.label}`;
  }

  async step(isRedo: boolean): Promise<void> {
    const { history, notices, file, stepped } = this.#options;
    try {
      const label = await (isRedo ? history.redo() : history.undo());
      if (label === null) {
        notices.show(`There is nothing to ${isRedo ? 'redo' : 'undo'}.`);
        return;
      }
      stepped();
      const isAgain = label.startsWith('the deletion') && !isRedo;
      const again = ' What was deleted is put back at the end of the file, with new numbers.';
      notices.show(`${isRedo ? 'Redid' : 'Undid'} ${label}.${isAgain ? again : ''}`);
    } catch (error) {
      const isOther = isConflict(error) && !messageOf(error).startsWith('Row ');
      const reason = isOther ? `${file} was changed by someone else meanwhile.` : messageOf(error);
      notices.show(`Not ${isRedo ? 'redone' : 'undone'}: ${reason}`);
      if (isConflict(error)) history.doubt();
      this.draw();
    }
  }
}
