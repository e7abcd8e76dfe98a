/** @jsxImportSource @kitajs/html */
import { MAX_KEY_DAYS } from '../../accounts/identity/api-keys.ts';
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import { VERBS } from '../../accounts/rights/principal.ts';

interface BoxProps {
  readonly value: string;
}

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
  readonly names: readonly string[];
  readonly source: 'users' | 'groups';
}

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

/** Empty: the key does not expire. */
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
