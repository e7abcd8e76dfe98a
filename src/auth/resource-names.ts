/**
 * Texts of permissions and scopes, and what they match (DS-129, DS-137, EV-20).
 *
 * `*` is special only alone and after a final `/`; everywhere else it is a literal character of a name. Names that
 * start with `@events` belong to event rights and are opened by nothing but their own text.
 */
import { invalidRequest } from '../base/errors.ts';

/** The resource text of the docroot boundary, which allows upload and nothing else. */
export const DOCROOT_BOUNDARY = '';
const EVENTS = '@events';
/** Of the resource text of a permission; longer than any path a file system takes. */
export const MAX_RESOURCE_CHARACTERS = 4096;

/** A resource text as it is stored: trimmed, NFC, and one form for the docroot boundary. */
export function normalResource(text: string): string {
  const name = text.trim().normalize('NFC');
  return name === '__root__' || name === '<root>' ? DOCROOT_BOUNDARY : name;
}

/** The resource text of a new permission as it will be stored. Throws `invalid-request` (DS-137). */
export function checkResource(text: string): string {
  const name = normalResource(text);
  if (name.length > MAX_RESOURCE_CHARACTERS) {
    throw invalidRequest({
      type: 'string_too_long',
      loc: ['body', 'resource'],
      msg: `A resource has at most ${MAX_RESOURCE_CHARACTERS} characters`,
      ctx: { max_length: MAX_RESOURCE_CHARACTERS },
    });
  }
  if (isFolderName(name)) {
    const contents = `${name.replace(/\/+$/, '')}/*`;
    throw invalidRequest({
      type: 'value_error',
      loc: ['body', 'resource'],
      msg: `No resource ends in /; what lies in a folder is named ${contents}`,
      input: text,
    });
  }
  if (!name.startsWith('/') && name.isWellFormed()) return name;
  throw invalidRequest({
    type: 'value_error',
    loc: ['body', 'resource'],
    msg: 'A resource is named without a leading /',
    input: text,
  });
}

/** Whether a text reads like a folder: it would be a permission that opens nothing, as only files are resources. */
export function isFolderName(name: string): boolean {
  return name.endsWith('/') && !name.startsWith('/');
}

/** Whether a document of that name falls under the pattern. `isExtensionForm`: see DS-25. */
export function matchesDocument(pattern: string, name: string, isExtensionForm: boolean): boolean {
  if (name === DOCROOT_BOUNDARY || pattern === DOCROOT_BOUNDARY) return name === pattern;
  // EV-20: without its extension `@events/web.csv` would be the name of an event index.
  if (name.startsWith(EVENTS)) return isExtensionForm && name === pattern;
  return pattern === '*' || matchesText(pattern, name);
}

/** Whether the event index falls under the pattern (EV-20); `@events` covers every index. */
export function matchesEventIndex(pattern: string, index: string): boolean {
  return pattern === EVENTS || matchesText(pattern, `${EVENTS}/${index}`);
}

/** Whether the pattern is one of event rights. */
export function namesEvents(pattern: string): boolean {
  return pattern === EVENTS || pattern.startsWith(`${EVENTS}/`);
}

function matchesText(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.endsWith('/*') && name.startsWith(pattern.slice(0, -1));
}
