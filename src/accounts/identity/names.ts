/** Names of users and groups: trimmed, NFC, 1 to 150 characters, no control characters; compared byte by byte. */
import { invalidRequest } from '../../base/errors.ts';

/** Unicode code points. */
export const MAX_NAME_CHARACTERS = 150;

export function normalName(text: string): string {
  return text.trim().normalize('NFC');
}

/** Throws `invalid-request` naming the body member `field`. */
export function checkName(text: string, field: string): string {
  const name = normalName(text);
  const loc = ['body', field];
  const length = [...name].length;
  if (length === 0) {
    throw invalidRequest({
      type: 'string_too_short',
      loc,
      msg: 'A name needs at least 1 character',
      input: text,
      ctx: { min_length: 1 },
    });
  }
  if (length > MAX_NAME_CHARACTERS) {
    throw invalidRequest({
      type: 'string_too_long',
      loc,
      msg: `A name has at most ${MAX_NAME_CHARACTERS} characters`,
      ctx: { max_length: MAX_NAME_CHARACTERS },
    });
  }
  // A lone surrogate has no UTF-8 form: stored, it would become equal to other names.
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw invalidRequest({
      type: 'value_error',
      loc,
      msg: 'A name has no control characters',
      input: text,
    });
  }
  return name;
}
