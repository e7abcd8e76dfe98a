/**
 * Parts are held as strings of one character per byte, so that positions are byte positions; only delivered text is
 * decoded from UTF-8. Characters XML cannot hold are escaped as `_xHHHH_` (ECMA-376-1, 22.9.2.19, ST_Xstring).
 */
import { unreadable } from '../../../src/base/errors.ts';

const NON_ASCII = /[\u0080-\u00ff]/;
const ENTITY = /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos));|&/g;
const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};
const ESCAPE = /_x([0-9a-fA-F]{4})_/g;
const CDATA_OR_COMMENT = /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>/g;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** CDATA and comments allowed; line ends normalised as XML requires. Throws `unreadable-file`. */
export function textOf(raw: string): string {
  if (!/[&<\r\u0080-\u00ff]/.test(raw)) return raw;
  if (!raw.includes('<')) return resolved(raw);
  let text = '';
  let from = 0;
  for (const match of raw.matchAll(CDATA_OR_COMMENT)) {
    text += resolved(raw.slice(from, match.index)) + decoded(match[1] ?? '');
    from = match.index + match[0].length;
  }
  return text + resolved(raw.slice(from));
}

/** White space becomes spaces. */
export function attributeValue(raw: string): string {
  return /[&\s\u0080-\u00ff]/.test(raw) ? resolved(raw.replaceAll(/\r\n|[\t\n\r]/g, ' ')) : raw;
}

function resolved(raw: string): string {
  const text = decoded(raw);
  return text.includes('&') ? text.replaceAll(ENTITY, entityText) : text;
}

function decoded(raw: string): string {
  const text = NON_ASCII.test(raw) ? decodedUtf8(raw) : raw;
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

function decodedUtf8(raw: string): string {
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    throw unreadable('its XML holds invalid UTF-8');
  }
}

function entityText(spelling: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return NAMED[name]!;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const isCharacter =
    (code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) ||
    code === 9 ||
    code === 10 ||
    code === 13;
  if (!isCharacter) {
    throw unreadable(`its XML holds ${JSON.stringify(spelling)} where an entity should be`);
  }
  return String.fromCodePoint(code);
}

/** Resolves `_xHHHH_`; U+0000 stays escaped, lone surrogates are replaced. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  const resolvedText = text.replaceAll(ESCAPE, (spelling, hex: string) =>
    hex === '0000' ? spelling : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return resolvedText.toWellFormed();
}

const DECLARED = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/;

/** Throws `unreadable-file` unless the beginning of a part is UTF-8 or ASCII. */
export function refuseOtherEncodings(text: string, part: string): void {
  const declared = DECLARED.exec(text)?.[1]?.toLowerCase() ?? 'utf-8';
  // Undeclared UTF-16 shows by a byte order mark or by NULs among its first characters.
  const isWide = /^(?:\u00ff\u00fe|\u00fe\u00ff|[^]?\u0000)/.test(text);
  if (isWide || !['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(declared)) {
    throw unreadable(`${part} is XML in another encoding than UTF-8`);
  }
}
