/** Which number formats show a date or a time (ECMA-376-1, 18.8.30 and 18.8.31). */

/** `date` may include a time; `elapsed` (`[h]:mm`) goes past 24 hours. */
export type DateKind = 'none' | 'date' | 'time' | 'elapsed';

/** Not plain numbers; East Asian formats included. */
const BUILT_IN: readonly (readonly [first: number, last: number, kind: DateKind])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date'],
  [27, 31, 'date'],
  [32, 33, 'time'],
  [34, 36, 'date'],
  [45, 45, 'time'],
  [46, 46, 'elapsed'],
  [47, 47, 'time'],
  [50, 58, 'date'],
];

export function builtInKind(id: number): DateKind {
  return BUILT_IN.find(([first, last]) => first <= id && id <= last)?.[2] ?? 'none';
}

/** Decided by the first section, the one for positive numbers. */
export function formatKind(code: string): DateKind {
  const literals = /"[^"]*"?|\\[^]?|[_*][^]?/g;
  const section = code.replaceAll(literals, '').split(';', 1)[0]!.toLowerCase();
  if (/\[(?:h+|m+|s+)\]/.test(section)) return 'elapsed';
  const plain = section.replaceAll(/\[[^[\]]*\]|am\/pm|a\/p|general|e[+-]/g, '');
  // Years and eras (e, g, b), months, days; `m` next to hours or seconds is minutes.
  if (/[ydegb]/.test(plain)) return 'date';
  if (/[hs]/.test(plain)) return 'time';
  return plain.includes('m') ? 'date' : 'none';
}
