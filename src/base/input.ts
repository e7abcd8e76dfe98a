/**
 * Checked input of an operation: the members of a JSON object or form, with the list form of DS-9 for all that is wrong.
 *
 * Unknown members are ignored (DS-3). Issues are gathered, so that a caller hears of every wrong member at once.
 */
import type { ValidationIssue } from './errors.ts';
import { invalidRequest } from './errors.ts';
import { JsonNumber } from './json.ts';

/** Reads the members of one body; call `finish` before using what was read. */
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

  /** A member as it came; undefined when absent. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  /** A text that must be there. */
  text(name: string): string {
    const value = this.raw(name);
    if (typeof value === 'string') return value;
    if (value === undefined) this.#refuse('missing', name, 'This member is missing');
    else this.#refuse('string_type', name, 'This member is a string');
    return '';
  }

  /** A text that may be absent or null; null then. */
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
    }
    return value;
  }

  /** Notes that a member has a wrong value. */
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
