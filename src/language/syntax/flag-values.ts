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
    const word = this.word(flag);
    return word && fillText(word.text, this.#parameters, word.place);
  }

  /** Not negative. Throws `bad_value`. */
  count(flag: string): number | null {
    const word = this.word(flag);
    if (word === null) return null;
    const value = String(fillValue(word.text, this.#parameters, word.place) ?? '').trim();
    if (!/^[+-]?\d+$/.test(value)) {
      throw badValue(this.#command, flag, `invalid int value: '${value}'`, word.place);
    }
    const number = Number(value);
    if (number < 0) throw badValue(this.#command, flag, 'must not be negative', word.place);
    return Math.min(number, Number.MAX_SAFE_INTEGER);
  }

  choice(flag: string, choices: readonly string[]): string | null {
    const word = this.word(flag);
    if (word === null) return null;
    const value = fillText(word.text, this.#parameters, word.place);
    if (choices.includes(value)) return value;
    const text = `${this.#command}: error: argument --${flag}: invalid choice: '${value}'`;
    throw new Problem('bad_value', text, {
      place: word.place,
      suggestion: unknownName(value, choices).suggestion,
      allowed: choices,
      listsAllowed: true,
    });
  }

  list(flag: string): readonly Value[] | null {
    const word = this.word(flag);
    if (word === null) return null;
    const list = parseList(word.text);
    if (list === undefined) {
      throw new Problem('bad_list', `--${flag} must be a valid list/tuple literal`, {
        place: word.place,
      });
    }
    if (list.length > MAX_LIST_VALUES) {
      throw new Problem('too_large', `A list may have ${MAX_LIST_VALUES} values`, {
        place: word.place,
      });
    }
    return list.map((one) => fillIn(one, this.#parameters, word.place));
  }

  names(flag: string): readonly string[] | null {
    const list = this.list(flag);
    if (list === null || list.every((one) => typeof one === 'string')) return list;
    throw new Problem('bad_list', `--${flag} must contain only field names`, {
      place: this.placeOf(flag),
    });
  }

  mapping(flag: string): Readonly<Record<string, Value>> | null {
    const word = this.word(flag);
    if (word === null) return null;
    const value = parseLiteral(word.text);
    if (isObject(value))
      return fillIn(value, this.#parameters, word.place) as Record<string, Value>;
    throw new Problem('bad_mapping', `--${flag} must be a dictionary`, { place: word.place });
  }
}
