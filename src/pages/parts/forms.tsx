/** @jsxImportSource @kitajs/html */
import type { PropsWithChildren } from '@kitajs/html';
import { CsrfField, type FrameView } from '../frame.tsx';

export const PASSWORD_RULE =
  'At least 10 characters that are hard to guess: four or five unrelated words are strong, names, dates and common words are not.';

type Fields = Iterable<readonly [name: string, value: string | number]>;

export function HiddenFields({ fields }: { fields: Fields }) {
  return (
    <>
      {[...fields].map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
    </>
  );
}

type FormProps = Omit<JSX.HtmlFormTag, 'action' | 'method'> & {
  readonly frame: FrameView;
  readonly to: string;
  /** What it does, where an address takes several forms. */
  readonly does?: string;
  readonly fields?: Fields;
};

export function PostForm(props: PropsWithChildren<FormProps>) {
  const { frame, to, does, fields = [], children, ...form } = props;
  return (
    <form method="post" action={to} {...form}>
      <CsrfField frame={frame} />
      <HiddenFields fields={does === undefined ? fields : [['action', does], ...fields]} />
      {children}
    </form>
  );
}

type ButtonProps = FormProps & {
  readonly label: string;
  /** For screen readers. */
  readonly name?: string;
  readonly look?: string;
};

export function PostButton({ label, name, look = 'quiet small', ...form }: ButtonProps) {
  return (
    <PostForm {...form}>
      <button class={look} type="submit" aria-label={name} safe>
        {label}
      </button>
    </PostForm>
  );
}

type SearchBoxProps = JSX.HtmlInputTag & { readonly label: string };

/** The label is for screen readers. */
export function SearchBox({ label, ...input }: SearchBoxProps) {
  return (
    <label>
      <span class="visually-hidden" safe>
        {label}
      </span>
      <input type="search" autocomplete="off" {...input} />
    </label>
  );
}

/** Script filters while the reader types; the form around asks for the page with `filter`. */
export function NameFilter({
  value,
  label = 'Show names containing',
  placeholder = 'Filter by name',
}: {
  value: string;
  label?: string;
  placeholder?: string;
}) {
  const box = { name: 'filter', spellcheck: 'false', 'data-key': 'f' } as const;
  return <SearchBox {...{ label, value, placeholder }} {...box} />;
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
}

export function Select({ name, choices, chosen }: Omit<ChoiceProps, 'label'>) {
  return (
    <select {...{ name }}>
      {choices.map(([value, text]) => (
        <option {...{ value }} selected={value === chosen} safe>
          {text}
        </option>
      ))}
    </select>
  );
}

/** The label is for screen readers. */
export function Choice({ label, ...select }: ChoiceProps) {
  return (
    <label>
      <span class="visually-hidden" safe>
        {label}
      </span>
      <Select {...select} />
    </label>
  );
}

export function UserNameBox(input: JSX.HtmlInputTag) {
  const fixed = { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' } as const;
  return (
    <label>
      User name
      <input name="username" {...fixed} {...input} required />
    </label>
  );
}

export function CreatedKey({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <section class="notice">
      <label>
        <span safe>{label}</span>
        <span class="copy-box">
          <input class="code" {...{ value }} readonly data-select />
          <button type="button" class="quiet" data-copy="before">
            Copy
          </button>
        </span>
      </label>
      <p class="fine">
        Copy it now: it is not shown again. Programs send it in the header <code>X-API-Key</code>.
      </p>
    </section>
  );
}
