/** Fields of the variables; those of a choice get their values from a query. */
import type { DashboardVariable } from '../../docroot/dashboard.ts';
import { messageOf } from '../shared/ask.ts';
import { make, makeSelect } from '../shared/element.ts';
import { requestOf, type Runner } from './run.ts';
import type { Choices, Shown } from './state.ts';

const MAX_VALUES = 1_000;

export class Variables {
  readonly #shown: Shown;
  readonly #choices: Choices;
  readonly #runner: Runner;
  readonly #changed: () => void;
  readonly #fields = new Map<string, HTMLInputElement | HTMLSelectElement>();
  readonly #asked = new Map<string, string>();

  constructor(
    place: HTMLElement,
    shown: Shown,
    choices: Choices,
    { runner, changed }: { readonly runner: Runner; readonly changed: () => void },
  ) {
    this.#shown = shown;
    this.#choices = choices;
    this.#runner = runner;
    this.#changed = changed;
    for (const variable of shown.dashboard.variables ?? []) {
      const field = this.#fieldOf(variable);
      this.#fields.set(variable.name, field);
      place.append(make('label', make('span', variable.label ?? variable.name), field));
    }
  }

  /** Lists the values of choices that depend on what was chosen; takes the first one where nothing is chosen. */
  async load(maxAge: number): Promise<void> {
    for (const [index, variable] of (this.#shown.dashboard.variables ?? []).entries()) {
      const query = this.#shown.queries[`variables/${index}`];
      const field = this.#fields.get(variable.name);
      if (query === undefined || !(field instanceof HTMLSelectElement)) continue;
      const panel = { query: query.query, limit: MAX_VALUES };
      const request = requestOf({ panel, query }, this.#choices, maxAge);
      const key = JSON.stringify([query, request?.body]);
      if (this.#asked.get(variable.name) === key && maxAge > 0) continue;
      this.#asked.set(variable.name, key);
      try {
        if (request === null) throw new Error(query.problem ?? 'It has no values');
        const { rows, columns } = await this.#runner.run(request, new AbortController().signal);
        const first = columns[0]?.name ?? '';
        const found = rows.map((row) => row[first]).filter((one) => one !== null && one !== '');
        this.#fill(field, variable, [...new Set(found.map(String))]);
        field.removeAttribute('aria-invalid');
        field.title = '';
      } catch (error) {
        field.title = messageOf(error);
        field.setAttribute('aria-invalid', 'true');
      }
    }
  }

  put(): void {
    for (const [name, field] of this.#fields) {
      const value = this.#choices.values[name] ?? '';
      const isNew = field instanceof HTMLSelectElement && !hasOption(field, value);
      if (isNew) field.append(new Option(value, value));
      field.value = value;
    }
  }

  #fill(field: HTMLSelectElement, { name, all }: DashboardVariable, found: string[]): void {
    const chosen = this.#choices.values[name] ?? '';
    const options = all === undefined ? found : ['', ...found];
    const value = chosen === '' && all === undefined ? (found[0] ?? '') : chosen;
    const listed = options.includes(value) ? options : [value, ...options];
    field.replaceChildren(
      ...listed.map((one) => new Option(one === '' ? (all ?? '') : one, one, false, one === value)),
    );
    this.#choices.values[name] = value;
  }

  #fieldOf({ name, label, type, all }: DashboardVariable): HTMLInputElement | HTMLSelectElement {
    const take = (): void => {
      this.#choices.values[name] = field.value;
      this.#changed();
    };
    const value = this.#choices.values[name] ?? '';
    const field =
      type === 'choice'
        ? makeSelect(label ?? name, [[value, value === '' ? (all ?? '…') : value]], value)
        : make('input', {
            type: 'text',
            value,
            'aria-label': label ?? name,
            autocomplete: 'off',
            spellcheck: 'false',
            placeholder: type === 'time' ? '-7d..-6d' : null,
          });
    field.addEventListener('change', take);
    return field;
  }
}

function hasOption(field: HTMLSelectElement, value: string): boolean {
  return [...field.options].some((option) => option.value === value);
}
