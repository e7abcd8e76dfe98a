import type { FlagArguments, Word } from './ast.ts';
import { badValue } from './flag-arguments.ts';
import { fillIn } from '../expressions/condition.ts';
import { MAX_LIST_VALUES } from '../limits.ts';
import { parseList, parseLiteral } from './literal.ts';
import { fillText, fillValue, type Parameters } from './placeholder.ts';
import { Problem, unknownName, type Place } from './problem.ts';
import { isObject, type Value } from '../expressions/value.ts';

export class FlagValues {
  readonly #command: string;
  readonly #args: FlagArguments;
  readonly #parameters: Parameters;

  constructor(command: string, args: FlagArguments, parameters: Parameters) {
    this.#command = command;
    this.#args = args;
    this.#parameters = parameters;
  }

  word(flag: string): Word | null {
    return this.#args.flags[flag]?.at(-1) ?? null;
  }

  words(flag: string): readonly Word[] {
    return this.#args.flags[flag] ?? [];
  }

  get argument(): Word | null {
    return this.#args.words[0] ?? null;
  }

  placeOf(flag: string): Place | null {
    return this.word(flag)?.place ?? null;
  }

  text(flag: string): string | null {
    return this.#read(flag, ({ text, place }) => fillText(text, this.#parameters, place));
  }

  /** Not negative. Throws `bad_value`. */
  count(flag: string): number | null {
    return this.#read(flag, ({ text, place }) => {
      const value = String(fillValue(text, this.#parameters, place) ?? '').trim();
      if (!/^[+-]?\d+$/.test(value)) {
        throw badValue(this.#command, flag, `invalid int value: '${value}'`, place);
      }
      const number = Number(value);
      if (number < 0) throw badValue(this.#command, flag, 'must not be negative', place);
      return Math.min(number, Number.MAX_SAFE_INTEGER);
    });
  }

  choice<Choice extends string>(flag: string, choices: readonly Choice[]): Choice | null {
    return this.#read(flag, ({ text, place }) => {
      const value = fillText(text, this.#parameters, place);
      const chosen = choices.find((one) => one === value);
      if (chosen !== undefined) return chosen;
      const message = `${this.#command}: error: argument --${flag}: invalid choice: '${value}'`;
      throw new Problem('bad_value', message, {
        place,
        suggestion: unknownName(value, choices).suggestion,
        allowed: choices,
        listsAllowed: true,
      });
    });
  }

  list(flag: string): readonly Value[] | null {
    return this.#read(flag, ({ text, place }) => {
      const list = parseList(text);
      if (list === undefined)
        throw new Problem('bad_list', `--${flag} must be a valid list/tuple literal`, { place });
      if (list.length > MAX_LIST_VALUES)
        throw new Problem('too_large', `A list may have ${MAX_LIST_VALUES} values`, { place });
      return list.map((one) => fillIn(one, this.#parameters, place));
    });
  }

  names(flag: string): readonly string[] | null {
    const list = this.list(flag);
    if (list === null || list.every((one) => typeof one === 'string')) return list;
    throw new Problem('bad_list', `--${flag} must contain only field names`, {
      place: this.placeOf(flag),
    });
  }

  mapping(flag: string): Readonly<Record<string, Value>> | null {
    return this.#read(flag, ({ text, place }) => {
      const value = parseLiteral(text);
      if (isObject(value)) return fillIn(value, this.#parameters, place) as Record<string, Value>;
      throw new Problem('bad_mapping', `--${flag} must be a dictionary`, { place });
    });
  }

  #read<Result>(flag: string, read: (word: Word) => Result): Result | null {
    const word = this.word(flag);
    return word && read(word);
  }
}
