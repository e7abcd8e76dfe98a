/**
 * `*` is special only alone and after a final `/`; elsewhere it is a literal character. Names that start with
 * `@events` are event rights and match only their own text.
 */
import { invalidRequest } from '../../base/errors.ts';

/** Allows upload and nothing else. */
export const DOCROOT_BOUNDARY = '';
const EVENTS = '@events';
/** Longer than any path a file system takes. */
export const MAX_RESOURCE_CHARACTERS = 4096;

export function normalResource(text: string): string {
  const name = text.trim().normalize('NFC');
  return name === '__root__' || name === '<root>' ? DOCROOT_BOUNDARY : name;
}

/** Throws `invalid-request`. */
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

/** Such a permission would match nothing, as only files are resources. */
export function isFolderName(name: string): boolean {
  return name.endsWith('/') && !name.startsWith('/');
}

/** `isExtensionForm`: the name includes the file's extension. */
export function matchesDocument(pattern: string, name: string, isExtensionForm: boolean): boolean {
  if (name === DOCROOT_BOUNDARY || pattern === DOCROOT_BOUNDARY) return name === pattern;
  // Without its extension `@events/web.csv` would be the name of an event index.
  if (name.startsWith(EVENTS)) return isExtensionForm && name === pattern;
  return pattern === '*' || matchesText(pattern, name);
}

export function matchesEventIndex(pattern: string, index: string): boolean {
  return pattern === EVENTS || matchesText(pattern, `${EVENTS}/${index}`);
}

export function namesEvents(pattern: string): boolean {
  return pattern === EVENTS || pattern.startsWith(`${EVENTS}/`);
}

function matchesText(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.endsWith('/*') && name.startsWith(pattern.slice(0, -1));
}
