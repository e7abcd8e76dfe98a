/** `kv` and `logfmt`: `key=value` pairs. */
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

// The pattern counts escapes: alternation per character would take seconds in a megabyte of text.
const LOGFMT =
  /(?:^|[\s,;([{|])([A-Za-z_][A-Za-z0-9_.-]*)=(?:"([^"\\]*(?:\\.[^"\\]*){0,5000})"|(\S*))|(?:^|(?<=\s))([A-Za-z_][A-Za-z0-9_.-]*)(?=\s|$)/gs;
const QUOTED = /"([^"\\]*(?:\\.[^"\\]*){0,5000})"/sy;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const NEXT_KEY = /[A-Za-z_][A-Za-z0-9_.-]*=/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '"': '"', '\\': '\\' };
const MAX_FOUND = 1000;

const QUOTE = 0x22;
const COLON = 0x3a;
const CLOSERS: Readonly<Record<string, number>> = { '[': 0x5d, '{': 0x7d, '(': 0x29 };

/** By character below 128: may stand in a key, before a key, ends a bare value. */
const [KEY, BEFORE, AFTER] = [
  classOf(/[A-Za-z0-9_.-]/),
  classOf(/[\s,;([{|]/),
  classOf(/[\s,;)\]}]/),
];

function classOf(pattern: RegExp): readonly boolean[] {
  return Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
}

/** The keys of the text before: those of a source come in the same order, and comparing is cheaper than cutting out. */
const lastKeys: string[] = [];
const MAX_LAST_KEYS = 64;

export function extractPairs(text: string, style: 'kv' | 'logfmt'): Members | null {
  if (style === 'kv') return scanned(text, { least: 1, isLenient: false });
  const members = memberSet();
  let found = false;
  for (const [, key, quoted, bare, flag] of text.matchAll(LOGFMT)) {
    found = true;
    if (flag !== undefined) members[flag] = true;
    else members[key!] = quoted === undefined ? typedValue(bare ?? '') : unescaped(quoted);
  }
  return found ? members : null;
}

/**
 * Pairs of a text that nobody said holds any: null for fewer than two. A bare value goes on behind a comma or bracket
 * unless a space or another pair follows, as in `tags=a,b`.
 */
export function findPairs(text: string): Members | null {
  return scanned(text, { least: 2, isLenient: true });
}

function scanned(
  text: string,
  { least, isLenient }: { readonly least: number; readonly isLenient: boolean },
): Members | null {
  let members: Members | null = null;
  let count = 0;
  let from = 0;
  for (;;) {
    const equals = text.indexOf('=', from);
    if (equals < 0) break;
    let key = lastKeys[count];
    if (key === undefined || !isKeyBefore(text, equals, from, key)) {
      const start = keyStart(text, equals, from);
      key = start < 0 ? undefined : text.slice(start, equals);
    }
    from = equals + 1;
    if (key === undefined) continue;
    // One pair alone is no reason to make an object.
    if (members === null && least > 1 && text.indexOf('=', from) < 0) break;
    members ??= memberSet();
    if (count < MAX_LAST_KEYS && key.length < 64) lastKeys[count] = key;
    count += 1;
    if (text.charCodeAt(from) === QUOTE) {
      QUOTED.lastIndex = from;
      const quoted = QUOTED.exec(text);
      if (quoted !== null) {
        members[key] = unescaped(quoted[1]!);
        from = QUOTED.lastIndex;
        continue;
      }
    }
    const end = valueEnd(text, from, isLenient);
    members[key] = typedValue(text.slice(from, end));
    from = end;
    if (isLenient && count === MAX_FOUND) break;
  }
  return count < least ? null : members;
}

function isKeyBefore(text: string, equals: number, from: number, key: string): boolean {
  const start = equals - key.length;
  if (start < from || !text.startsWith(key, start)) return false;
  if (start === 0) return true;
  const before = text.charCodeAt(start - 1);
  return before < 128 && BEFORE[before]!;
}

/** Where the key before an equals sign begins; negative when there is none. */
function keyStart(text: string, equals: number, from: number): number {
  let at = equals;
  while (at > from && KEY[text.charCodeAt(at - 1)] === true) at -= 1;
  if (at === equals) return -1;
  const first = text.charCodeAt(at);
  // Digits, dot and hyphen do not begin a key.
  if (first < 0x41) return -1;
  if (at === 0) return at;
  const before = text.charCodeAt(at - 1);
  return (before < 128 ? BEFORE[before]! : isSpace(text, at - 1)) ? at : -1;
}

function valueEnd(text: string, from: number, isLenient: boolean): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 128 ? !isSpace(text, at) : !AFTER[code]!) continue;
    if (!isLenient || code <= 0x20 || code >= 128) break;
    const next = text.charCodeAt(at + 1);
    const after = next === COLON ? at + 2 : at + 1;
    const isEnd =
      Number.isNaN(next) || AFTER[next] === true || after >= text.length || isSpace(text, after);
    NEXT_KEY.lastIndex = at + 1;
    if (!isEnd && !NEXT_KEY.test(text)) continue;
    // A list keeps its bracket.
    if (CLOSERS[text.charAt(from)] === code) at += 1;
    break;
  }
  return at;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}

/** A JSON number that a double holds, `true` and `false` get their types. */
export function typedValue(bare: string): string | number | boolean {
  const first = bare.charCodeAt(0);
  if (!(first <= 0x39)) {
    // Comparing copies the part of the line that the value is.
    const { length } = bare;
    return length === 4 && bare === 'true' ? true : length === 5 && bare === 'false' ? false : bare;
  }
  // A number ends in a digit.
  const last = bare.charCodeAt(bare.length - 1);
  if (!(last >= 0x30 && last <= 0x39) || !JSON_NUMBER.test(bare)) return bare;
  const value = Number(bare);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : bare;
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  return quoted.replace(/\\(.)/gs, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
