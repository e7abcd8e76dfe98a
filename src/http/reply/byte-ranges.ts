/**
 * Parts of a file (RFC 9110, section 14).
 */

/** Bytes of a file; `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** More are answered with the whole file: nobody who means well asks for so many. */
const MAX_RANGES = 32;
const RANGE = /^(?:(\d+)-(\d*)|-(\d+))$/;

/**
 * The parts a `Range` header asks of a file of `size` bytes, in their order, with overlapping ones merged; null to answer
 * with the whole file (no header, not understood, too many); empty when none of them can be satisfied.
 */
export function parseRanges(header: string | null, size: number): ByteRange[] | null {
  const list = /^bytes\s*=(.*)$/i.exec(header ?? '')?.[1];
  if (list === undefined) return null;
  const wanted = list.split(',').map((part) => part.trim());
  if (wanted.length > MAX_RANGES) return null;
  const ranges: ByteRange[] = [];
  for (const text of wanted) {
    const match = RANGE.exec(text);
    if (match === null) return null;
    const [, first, last, suffix] = match;
    const from = suffix === undefined ? Number(first) : Math.max(0, size - Number(suffix));
    const end = suffix !== undefined || last === '' ? size : Number(last) + 1;
    if (suffix === undefined && last !== '' && end <= from) return null;
    const to = Math.min(end, size);
    if (from < to) ranges.push({ from, to });
  }
  return merged(ranges);
}

/** Overlapping parts become one where the first of them stands. */
function merged(ranges: readonly ByteRange[]): ByteRange[] {
  const result: ByteRange[] = [];
  for (const range of ranges) {
    let { from, to } = range;
    let place = result.length;
    for (let index = result.length - 1; index >= 0; index--) {
      const other = result[index]!;
      if (other.from >= to || from >= other.to) continue;
      from = Math.min(from, other.from);
      to = Math.max(to, other.to);
      result.splice(index, 1);
      place = index;
    }
    result.splice(place, 0, { from, to });
  }
  return result;
}

/**
 * Whether an `If-Range` still holds, so that parts may be sent: the strong entity tag without its quotes, or the exact
 * date of the last change. A tag of a compressed answer does not hold: its parts are other bytes.
 */
export function rangeHolds(ifRange: string | null, etag: string, lastModified: string): boolean {
  if (ifRange === null) return true;
  const value = ifRange.trim();
  return value.startsWith('"') ? value === `"${etag}"` : value === lastModified;
}

/** `Content-Range` of a part. */
export function contentRange({ from, to }: ByteRange, size: number): string {
  return `bytes ${from}-${to - 1}/${size}`;
}
