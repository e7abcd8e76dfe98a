/** `JSON.parse` does not say where a text stops being JSON; the contract's `json_invalid` names the offset. */
import { JsonSyntaxError } from './json-outline.ts';

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** The text's length when it only ends too early; 0 for valid text. Nesting must be known to be bounded. */
export function jsonErrorOffset(text: string): number {
  try {
    const end = skipSpace(text, skipValue(text, skipSpace(text, 0)));
    return end < text.length ? end : 0;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.offset;
    throw error;
  }
}

function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === '{') return skipList(text, at, '}', skipMember);
  if (first === '[') return skipList(text, at, ']', skipValue);
  if (first === '"') return skip(STRING, text, at);
  return skip(SCALAR, text, at);
}

function skipMember(text: string, at: number): number {
  const colon = skipSpace(text, skip(STRING, text, at));
  if (text[colon] !== ':') throw new JsonSyntaxError('Expected a colon', colon);
  return skipValue(text, skipSpace(text, colon + 1));
}

function skipList(
  text: string,
  from: number,
  close: string,
  skipItem: (text: string, at: number) => number,
): number {
  let at = skipSpace(text, from + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(text, skipItem(text, at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ',') throw new JsonSyntaxError('Expected a comma', at);
    at = skipSpace(text, at + 1);
  }
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  if (!pattern.test(text)) throw new JsonSyntaxError('Unexpected text', at);
  return pattern.lastIndex;
}
