/**
 * Skips XML by position without looking at names or attributes. All functions return -1 when the
 * text ends first.
 */
import { afterMarkup } from './xml-cursor.ts';

const SPACE = 0x20;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const BANG = 33;
const QUESTION = 63;

export function afterTag(text: string, at: number): number {
  for (let here = at + 1; here < text.length; here++) {
    const code = text.charCodeAt(here);
    if (code === GREATER) return here + 1;
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      here = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", here + 1);
      if (here < 0) return -1;
    }
  }
  return -1;
}

export function afterElement(text: string, at: number, part: string): number {
  let depth = 0;
  for (let here = at; ;) {
    const start = text.indexOf('<', here);
    if (start < 0) return -1;
    const next = text.charCodeAt(start + 1);
    if (next === BANG || next === QUESTION) {
      here = afterMarkup(text, start, part);
      if (here < 0) return -1;
      continue;
    }
    const end = afterTag(text, start);
    if (end < 0) return -1;
    if (next === SLASH) depth--;
    else if (text.charCodeAt(end - 2) !== SLASH) depth++;
    if (depth <= 0) return end;
    here = end;
  }
}

/** Skips white space and comments. */
export function nextTag(text: string, at: number, part: string): number {
  for (let here = at; ;) {
    let code = text.charCodeAt(here);
    while (code <= SPACE) code = text.charCodeAt(++here);
    if (code !== LESS) {
      here = text.indexOf('<', here);
      if (here < 0) return -1;
    }
    const next = text.charCodeAt(here + 1);
    if (next !== BANG && next !== QUESTION) return next === next ? here : -1;
    here = afterMarkup(text, here, part);
    if (here < 0) return -1;
  }
}
