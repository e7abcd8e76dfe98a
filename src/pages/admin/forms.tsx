/** @jsxImportSource @kitajs/html */
/**
 * The forms of administration. They post to the page they are on, with an `action`. Destructive ones are confirmed on
 * a page of their own (`confirm.tsx`), which browser/admin.ts shows as a dialog.
 */
import type { PropsWithChildren } from '@kitajs/html';
import { CsrfField } from '../views/frame.tsx';
import type { Surroundings } from './layout.tsx';

interface FormProps extends Surroundings {
  readonly action: string;
  readonly class?: string;
}

/** Renders nothing in read-only mode. */
export function AdminForm(props: PropsWithChildren<FormProps>) {
  const { state, frame, action, class: look = 'filter query', children } = props;
  if (!state.mayChange) return '';
  return (
    <form class={look} method="post" action={state.address}>
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      {children}
    </form>
  );
}

interface ActProps extends Surroundings {
  readonly action: string;
  readonly label: string;
  /** The object acted on, for screen readers. */
  readonly about: string;
  readonly fields: Readonly<Record<string, string | number>>;
  /** Asks for confirmation first. */
  readonly asks?: boolean;
}

export function Act({ state, frame, action, label, about, fields, asks = false }: ActProps) {
  if (!state.mayChange) return '';
  return (
    <form class="act" method="post" action={state.address} data-asks={asks ? '' : undefined}>
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
      <button
        class={asks ? 'quiet small danger' : 'quiet small'}
        type="submit"
        aria-label={`${label} ${about}`}
        safe
      >
        {label}
      </button>
    </form>
  );
}

/** Opens on demand; open at once when its form was refused. */
export function Fold(props: PropsWithChildren<{ label: string; isOpen?: boolean }>) {
  const { label, isOpen = false, children } = props;
  return (
    <details class="fold-away" open={isOpen}>
      <summary safe>{label}</summary>
      {children}
    </details>
  );
}
