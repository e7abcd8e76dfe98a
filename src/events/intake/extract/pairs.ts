/** `kv` and `logfmt`: `key=value` pairs. */
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

// Patterns count escapes: alternation per character would take seconds in a megabyte of text.
const KV =
  /(?:^|[\s,;([{|])([A-Za-z_][A-Za-z0-9_.-]*)=(?:"([^"\\]*(?:\\.[^"\\]*){0,5000})"|([^\s,;)\]}]*))/gs;
const LOGFMT =
  /(?:^|[\s,;([{|])([A-Za-z_][A-Za-z0-9_.-]*)=(?:"([^"\\]*(?:\\.[^"\\]*){0,5000})"|(\S*))|(?:^|(?<=\s))([A-Za-z_][A-Za-z0-9_.-]*)(?=\s|$)/gs;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '"': '"', '\\': '\\' };

export function extractPairs(text: string, style: 'kv' | 'logfmt'): Members | null {
  if (style === 'kv' && !text.includes('=')) return null;
  const members = memberSet();
  let found = false;
  for (const [, key, quoted, bare, flag] of text.matchAll(style === 'kv' ? KV : LOGFMT)) {
    found = true;
    if (flag !== undefined) members[flag] = true;
    else members[key!] = quoted === undefined ? typed(bare ?? '') : unescaped(quoted);
  }
  return found ? members : null;
}

export function hasTwoPairs(text: string): boolean {
  let count = 0;
  for (const _ of text.matchAll(KV)) if (++count === 2) return true;
  return false;
}

function typed(bare: string): string | number | boolean {
  if (bare === 'true') return true;
  if (bare === 'false') return false;
  if (!JSON_NUMBER.test(bare)) return bare;
  const value = Number(bare);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : bare;
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  return quoted.replace(/\\(.)/gs, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
