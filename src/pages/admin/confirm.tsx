/** @jsxImportSource @kitajs/html */
/**
 * The question before something is deleted. Sending the form again with `confirmed` does it.
 */
import type { Page } from '../views/frame.tsx';
import { CsrfField } from '../views/frame.tsx';
import { ADMIN_HOME } from './layout.tsx';

export interface Question {
  readonly title: string;
  readonly effects: readonly string[];
  /** Names the action: `Delete user bea`. */
  readonly button: string;
}

interface ConfirmView extends Question {
  /** Where the form is sent, and where "back" leads. */
  readonly address: string;
  /** All fields of the form except the CSRF token. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

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
