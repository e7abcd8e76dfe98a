/** Unknown members are ignored. Issues are gathered, so that a caller learns of every wrong member at once. */
import type { ValidationIssue } from '../errors.ts';
import { invalidRequest } from '../errors.ts';
import { JsonNumber } from './json.ts';

/** For groups, permissions and keys. */
export const MAX_DESCRIPTION_CHARACTERS = 1024;

/** Call `finish` before using what was read. */
export class Input {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #issues: ValidationIssue[] = [];

  /** Throws `invalid-request` (`dict_type` at `["body"]`) unless the body is an object. */
  constructor(body: unknown) {
    const isObject = body !== null && typeof body === 'object' && !Array.isArray(body);
    if (!isObject || body instanceof JsonNumber) {
      throw invalidRequest({ type: 'dict_type', loc: ['body'], msg: 'The body is no JSON object' });
    }
    this.#members = body as Record<string, unknown>;
  }

  /** Undefined when absent. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  text(name: string): string {
    const value = this.raw(name);
    if (typeof value === 'string') return value;
    if (value === undefined) this.#refuse('missing', name, 'This member is missing');
    else this.#refuse('string_type', name, 'This member is a string');
    return '';
  }

  /** Null when absent or null. */
  optionalText(name: string, maxCharacters = Number.POSITIVE_INFINITY): string | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') {
      this.#refuse('string_type', name, 'This member is a string');
      return null;
    }
    if (value.length > maxCharacters) {
      const context = { max_length: maxCharacters };
      this.#refuse('string_too_long', name, `At most ${maxCharacters} characters`, context);
    } else if (!value.isWellFormed()) {
      // Half a surrogate pair has no UTF-8 form, so another text would come back.
      this.#refuse('value_error', name, 'This member is no Unicode text');
    }
    return value;
  }

  flag(name: string, fallback?: boolean): boolean {
    const value = this.raw(name) ?? (this.raw(name) === null ? null : fallback);
    if (typeof value === 'boolean') return value;
    if (value === undefined) this.#refuse('missing', name, 'This member is missing');
    else this.#refuse('bool_type', name, 'This member is true or false');
    return false;
  }

  integer(name: string, min: number): number {
    const value = this.raw(name);
    if (value === undefined) this.#refuse('missing', name, 'This member is missing');
    else if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.#refuse('int_type', name, 'This member is a whole number');
    } else if (value < min) {
      this.#refuse('greater_than_equal', name, `This member is at least ${min}`, { ge: min });
    } else return value;
    return min;
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word {
    const value = this.raw(name);
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    if (value === undefined) this.#refuse('missing', name, 'This member is missing');
    else {
      const expected = words.join(' or ');
      const issue = { loc: ['body', name], msg: `This member is ${expected}`, ctx: { expected } };
      this.#issues.push({
        type: 'enum',
        ...issue,
        ...(typeof value === 'string' && { input: value }),
      });
    }
    return words[0]!;
  }

  refuse(issue: ValidationIssue): void {
    this.#issues.push(issue);
  }

  /** Throws `invalid-request` with everything that was wrong so far. */
  finish(): void {
    if (this.#issues.length > 0) throw invalidRequest(...this.#issues);
  }

  #refuse(type: string, name: string, msg: string, ctx?: Record<string, unknown>): void {
    this.#issues.push({ type, loc: ['body', name], msg, ...(ctx === undefined ? {} : { ctx }) });
  }
}
