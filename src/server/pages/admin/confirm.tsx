/**
 * The question before something is taken away: what will happen, and the way back. Sent again as it was, with `confirmed`, it
 * happens.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from '../frame.tsx';
import { CsrfField } from '../frame.tsx';
import { ADMIN_HOME } from './layout.tsx';

/** What a deed would do. */
export interface Question {
  /** With a question mark. */
  readonly title: string;
  /** What else happens with it, a sentence each. */
  readonly effects: readonly string[];
  /** Names the deed: `Delete user bea`. */
  readonly button: string;
}

/** The question and the form that asked it. */
interface ConfirmView extends Question {
  /** Where the form is sent, and the way back. */
  readonly address: string;
  /** All fields of the form but the proof that it is ours. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Shown before what cannot be undone. */
export const confirmPage: Page<ConfirmView> = {
  name: 'admin-confirm',
  layout: 'card',
  title: ({ title }) => title,
  styles: ['admin.css'],
  trail: () => [{ label: 'Administration', href: ADMIN_HOME }],
  content: (view, frame) => (
    <form class="confirm" method="post" action={view.address}>
      <CsrfField frame={frame} />
      {view.fields.map(([name, value]) => (
        <input type="hidden" {...{ name, value }} />
      ))}
      <input type="hidden" name="confirmed" value="yes" />
      {view.effects.length === 0 ? (
        ''
      ) : (
        <ul>
          {view.effects.map((effect) => (
            <li safe>{effect}</li>
          ))}
        </ul>
      )}
      <p class="actions">
        <button class="danger" type="submit" safe>
          {view.button}
        </button>
        <a class="button quiet" href={view.address} data-cancel>
          Cancel
        </a>
      </p>
    </form>
  ),
};
