/**
 * Names of files and addresses, without file system access.
 *
 * A *rel* is a path relative to the document root. Request paths are decoded once and compared in Unicode NFC; what
 * can never match gives null instead of being repaired.
 */

const IGNORED_NAMES: ReadonlySet<string> = new Set(['venv', '__pycache__', 'node_modules']);
// Printable ASCII without '%': no decoding and no normalisation can change it.
const PLAIN = /^[\x20-\x24\x26-\x7e]*$/;

/**
 * Percent-decoded once, in NFC; `[]` for `/`.
 *
 * `%2F` acts as `/`. One leading and one trailing slash are dropped. Null for `.` or `..`, an empty inner segment,
 * NUL, a malformed percent sequence, or invalid UTF-8.
 */
export function decodePath(rawPath: string): string[] | null {
  let path = rawPath;
  if (!PLAIN.test(path)) {
    try {
      path = decodeURIComponent(path).normalize('NFC');
    } catch {
      // URIError: malformed percent sequence or invalid UTF-8, so no file can be meant.
      return null;
    }
    if (path.includes('\0') || !path.isWellFormed()) return null;
  }
  const from = path.startsWith('/') ? 1 : 0;
  const to = path.length > from && path.endsWith('/') ? path.length - 1 : path.length;
  if (to <= from) return from === 1 && path === '//' ? null : [];
  const segments = path.slice(from, to).split('/');
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..') return null;
  }
  return segments;
}

/** Encodes every segment, keeps `/`. `decodePath` undoes it up to NFC. */
export function encodePath(rel: string): string {
  return rel.split('/').map(encodeURIComponent).join('/');
}

/** Hides everything below it. */
export function isIgnoredComponent(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~$') || IGNORED_NAMES.has(name);
}

/** From here on UTF-16 and UTF-8 order differently. */
const SURROGATES_AND_UP = /[\ud800-\uffff]/;

/** By UTF-8 bytes of each item's text; stable. */
export function sortedByBytes<Item>(items: Iterable<Item>, textOf: (item: Item) => string): Item[] {
  const list = [...items];
  if (list.some((item) => SURROGATES_AND_UP.test(textOf(item)))) {
    return list.sort((a, b) => compareBytes(textOf(a), textOf(b)));
  }
  // The runtime's own comparison takes half the time.
  return list.sort((a, b) => {
    const [x, y] = [textOf(a), textOf(b)];
    return x < y ? -1 : Number(x > y);
  });
}

/** By UTF-8 bytes. Differs from `<` for characters past U+FFFF. */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return byteRank(x) - byteRank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above U+E000 to U+FFFF, where UTF-8 sorts the characters they stand for. */
function byteRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Without the last extension: `a/rep.v2.csv` and `a/rep.v2.csv.gz` give `a/rep.v2`; `a/.x`, `a/x.` stay. */
export function stemOf(rel: string): string {
  return rel.slice(0, extensionStart(rel));
}

/** Lower case with its dot, both of a compressed table and of a dashboard or an alert; `''` when there is none. */
export function extensionOf(rel: string): string {
  return rel.slice(extensionStart(rel)).toLowerCase();
}

const DOUBLE = /\.(?:(?:csv|tsv|psv|ndjson|jsonl)\.(?:gz|zst)|(?:dashboard|alert)\.yaml)$/i;

function extensionStart(rel: string): number {
  const nameStart = rel.lastIndexOf('/') + 1;
  const both = rel.search(DOUBLE);
  const dot = both > nameStart ? both : rel.lastIndexOf('.');
  return dot <= nameStart || dot === rel.length - 1 ? rel.length : dot;
}

export function fileNameOf(rel: string): string {
  return rel.slice(rel.lastIndexOf('/') + 1);
}

/** A loop, because a pattern for the end costs the square of the number of slashes. */
export function withoutEndSlashes(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text[from] === '/') from++;
  while (from < to && text[to - 1] === '/') to--;
  return text.slice(from, to);
}

/** Ends of companion file names. */
export const COMPANION_SUFFIX = /\.(?:schema|options)\.json$/;

/** `''` for an address without a path, and for none. */
export function basePathOf(publicUrl: string): string {
  return publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** What has the base already, and other addresses, stay. */
export function underBase(base: string, address: string): string {
  const isDone = address === base || address.startsWith(`${base}/`);
  return base === '' || isDone || !/^\/(?!\/)/.test(address) ? address : base + address;
}
