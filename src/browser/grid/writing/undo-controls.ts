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

export type UndoControls = ReturnType<typeof makeUndoControls>;

export function makeUndoControls({ history, notices, file, stepped }: UndoControlsOptions) {
  const step = async (isRedo: boolean): Promise<void> => {
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
      draw();
    }
  };
  const undo = quietButton('Undo', () => void step(false), { 'data-action': 'Undo' });
  const redo = quietButton('Redo', () => void step(true), { 'data-action': 'Redo' });
  const draw = (): void => {
    const { nextUndo, nextRedo } = history;
    undo.disabled = nextUndo === null;
    undo.title = nextUndo === null ? 'Nothing to undo' : `Undo ${nextUndo.label}`;
    redo.hidden = nextRedo === null;
    redo.title = nextRedo === null ? '' : `Redo ${nextRedo.label}`;
  };
  draw();
  return {
    buttons: [undo, redo],
    step,
    draw,
    /** A message with a topic outlasts messages about the server. */
    offer(text: string, topic = ''): void {
      notices.show(text, { label: 'Undo', run: () => void step(false) }, topic);
    },
  };
}
