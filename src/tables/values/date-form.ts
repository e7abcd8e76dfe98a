/** How a date is spelled, as one number: the counted *forms* of a column decide whether its texts are dates. */

export type DateOrder = 'dmy' | 'mdy';

/** Where day and month stand; `/` and `-` after two short numbers leave that open. */
export const PATTERNS = [
  'year-dash',
  'year-slash',
  'year-point',
  'day-point',
  'slash',
  'dash',
  'name-dash',
  'name-space',
  'name-first',
] as const;
export type Pattern = (typeof PATTERNS)[number];
export const ZONES = ['', 'Z', 'UTC', '+HH:MM', '+HHMM', '+HH'] as const;
export type Zone = (typeof ZONES)[number];

/** What a form is made of: a mixed-radix number, so that all forms together stay below 2^28. */
export const SIZES = {
  pattern: PATTERNS.length,
  /** Both orders, only day first, only month first. */
  order: 3,
  /** No evidence (two digits needed), with a zero, without. */
  day: 3,
  month: 3,
  /** No evidence, three letters, whole. */
  name: 3,
  /** `Jan`, `JAN`, `jan`. */
  nameCase: 3,
  /** No time, after `T`, `t` or a space. */
  time: 4,
  seconds: 2,
  fraction: 10,
  comma: 2,
  /** 24 hours; then 12 hours with `PM`, ` PM`, `pm`, ` pm`. */
  clock: 5,
  hour: 3,
  zone: ZONES.length,
  zoneSpace: 2,
  /** Spaces around it. */
  outer: 2,
} as const;

export type Field = keyof typeof SIZES;
export type FormParts = Record<Field, number>;

/** Several small numbers as the digits of one, the first the lowest; `size` is above all such numbers. */
export function mixedRadix<Name extends string>(sizes: Readonly<Record<Name, number>>) {
  const fields = Object.keys(sizes) as Name[];
  const strides = {} as Record<Name, number>;
  let size = 1;
  for (const field of fields) {
    strides[field] = size;
    size *= sizes[field];
  }
  const partsOf = (form: number): Record<Name, number> => {
    const parts = {} as Record<Name, number>;
    for (const field of fields) parts[field] = Math.floor(form / strides[field]) % sizes[field];
    return parts;
  };
  return { fields, strides, size, partsOf };
}

const radix = mixedRadix(SIZES);
export const { fields: FIELDS, strides: STRIDES, partsOf } = radix;
/** Above every form of a date. */
export const DATE_FORMS = radix.size;

export const EITHER = 0;
export const DAY_FIRST = 1;
export const MONTH_FIRST = 2;
export const NEUTRAL = 0;
export const PADDED = 1;
export const BARE = 2;

export const MONTHS: readonly string[] = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
export const NAME_LENGTH = 3;
