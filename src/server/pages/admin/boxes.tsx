/**
 * The boxes that several forms of administration have; their limits are those of the operations behind the forms.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { MAX_KEY_DAYS } from '../../../auth/api-keys.ts';
import { MAX_NAME_CHARACTERS } from '../../../auth/names.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../../base/input.ts';
import { VERBS } from '../../../auth/principal.ts';

interface BoxProps {
  readonly value: string;
}

/** A box for the name of a new user or group. */
export function NameBox({ name, label, value }: BoxProps & { name: string; label: string }) {
  return (
    <label>
      <span safe>{label}</span>
      <input
        {...{ name, value }}
        required
        maxlength={MAX_NAME_CHARACTERS}
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
      />
    </label>
  );
}

interface ChooseProps extends BoxProps {
  readonly name: string;
  readonly label: string;
  /** What the box proposes; with script it asks for more of them as somebody types. */
  readonly names: readonly string[];
  /** What is chosen from. */
  readonly source: 'users' | 'groups';
}

/** A box for the name of something there is. */
export function ChooseBox({ name, label, names, value, source }: ChooseProps) {
  const list = `${name}-names`;
  return (
    <>
      <label>
        <span safe>{label}</span>
        <input {...{ name, list, value }} required autocomplete="off" data-suggest={source} />
      </label>
      <datalist id={list}>
        {names.map((one) => (
          <option value={one} />
        ))}
      </datalist>
    </>
  );
}

/** A box for what something is for, which may stay empty. */
export function PurposeBox({ value }: BoxProps) {
  return (
    <label>
      What it is for
      <input
        name="description"
        {...{ value }}
        maxlength={MAX_DESCRIPTION_CHARACTERS}
        autocomplete="off"
      />
    </label>
  );
}

/** A box for the life of an API key; empty: it does not expire. */
export function ExpiryBox({ value }: BoxProps) {
  return (
    <label>
      Days until it expires
      <input
        name="expires_in_days"
        type="number"
        min="1"
        max={MAX_KEY_DAYS}
        {...{ value }}
        placeholder="never"
      />
    </label>
  );
}

/** A box for a name that a permission or an address may have. */
export function ResourceBox({ value }: BoxProps) {
  return (
    <label>
      Resource
      <input
        name="resource"
        {...{ value }}
        placeholder="reports/sales or reports/*"
        autocomplete="off"
        spellcheck="false"
      />
    </label>
  );
}

/** The choice between read and write. */
export function ActionBox({ value }: BoxProps) {
  return (
    <label>
      Right
      <select name="right">
        {VERBS.map((verb) => (
          <option value={verb} selected={verb === value} safe>
            {verb}
          </option>
        ))}
      </select>
    </label>
  );
}
