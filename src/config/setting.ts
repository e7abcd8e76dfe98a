/**
 * YAML is strict (a quoted number is text); the text of variables and flags is lenient about space and case, because
 * shells and service managers are. An objection continues the name of the setting: `must be …`.
 */

/** `index` is the offending item of a list or entry of a map. */
export interface Objection {
  readonly problem: string;
  readonly index?: number;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | ({ readonly ok: false; readonly others?: readonly Objection[] } & Objection);

/** Bounded depth; undefined where no setting reaches. */
export type RawValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly RawValue[]
  | ReadonlyMap<string, RawValue>;

type SettingType =
  'text' | 'path' | 'integer' | 'port' | 'bytes' | 'boolean' | 'choice' | 'list' | 'map';

interface SettingFacts {
  /** One sentence for the guide, the example file and the help. */
  readonly summary: string;
  /** SIGHUP applies a change; otherwise it needs a restart. */
  readonly live?: boolean;
  /** Shown as `***`. */
  readonly secret?: boolean;
  /** Why the file must not contain it. */
  readonly environmentOnly?: string;
  /** Every command, or `serve` only. */
  readonly flag?: 'common' | 'serve';
  /** In words, where the default follows from other settings. */
  readonly defaultText?: string;
  /** While unset, the value of this key, which stands earlier in the table. */
  readonly sameAs?: string;
  readonly unit?: string;
}

/** `parseRaw` reads a YAML value, `parseText` a variable or flag; both are pure. */
export interface Setting<T> extends SettingFacts {
  readonly type: SettingType;
  readonly default: T;
  /** For the documentation. */
  readonly range: string;
  parseRaw(raw: RawValue): Parsed<T>;
  parseText(text: string): Parsed<T>;
}

type Refine = (text: string) => Parsed<string>;

interface Of<T> extends SettingFacts {
  readonly default: T;
}

const SHOWN_CHARACTERS = 60;
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off']);
const BYTE_UNITS: Readonly<Record<string, number>> = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** `must be <expected>, not <given>`. */
export function refused<T>(expected: string, given: RawValue): Parsed<T> {
  return { ok: false, problem: `must be ${expected}, not ${shown(given)}` };
}

export function acceptedUnless<T>(value: T, objections: readonly Objection[]): Parsed<T> {
  const [first, ...others] = objections;
  return first === undefined ? accepted(value) : { ok: false, ...first, others };
}

export function objectionsTo(refusal: Extract<Parsed<unknown>, { ok: false }>): Objection[] {
  return [refusal, ...(refusal.others ?? [])];
}

export function text(of: Of<string> & { range?: string; refine?: Refine }): Setting<string> {
  const refine = of.refine ?? accepted;
  return {
    ...of,
    type: 'text',
    range: of.range ?? '',
    parseRaw: (raw) => (typeof raw === 'string' ? refine(raw) : refused('text', raw)),
    parseText: refine,
  };
}

/** The loader resolves it against the place it was written in. */
export function path<T extends string | null>(of: Of<T>): Setting<string | T> {
  const parse = (raw: RawValue): Parsed<string | T> => {
    const unset = raw === null || raw === '';
    if (unset && of.default === null) return accepted(of.default);
    if (typeof raw !== 'string' || unset) return refused('a path', raw);
    return raw.includes('\0') ? refused('a path without NUL', raw) : accepted(raw);
  };
  return { ...of, type: 'path', range: '', parseRaw: parse, parseText: parse };
}

/** Both bounds inclusive. */
export function integer(
  of: Of<number> & { min: number; max: number; type?: 'integer' | 'port' },
): Setting<number> {
  const range = `${of.min} to ${of.max}`;
  const check = (value: number, raw: RawValue): Parsed<number> =>
    Number.isInteger(value) && value >= of.min && value <= of.max
      ? accepted(value)
      : refused(`a whole number from ${range}`, raw);
  return {
    ...of,
    type: of.type ?? 'integer',
    range,
    parseRaw: (raw) => check(typeof raw === 'number' ? raw : Number.NaN, raw),
    parseText: (given) => check(/^\s*-?\d+\s*$/.test(given) ? Number(given) : Number.NaN, given),
  };
}

/** 0 asks the system for any free port. */
export function port(of: Of<number>): Setting<number> {
  return integer({ ...of, min: 0, max: 65535, type: 'port' });
}

/** Also written `512KiB`, `10MiB`, `1GiB`. */
export function bytes(of: Of<number> & { min?: number; max?: number }): Setting<number> {
  const min = of.min ?? 1;
  const max = of.max ?? 2 ** 40;
  const range = `${formatBytes(min)} to ${formatBytes(max)}`;
  const check = (value: number, raw: RawValue): Parsed<number> =>
    Number.isInteger(value) && value >= min && value <= max
      ? accepted(value)
      : refused(`a number of bytes from ${range}, such as 1048576 or 1MiB`, raw);
  const parseText = (given: string): Parsed<number> => {
    const match = /^\s*(\d+)\s*([kmg]ib)?\s*$/i.exec(given);
    const unit = BYTE_UNITS[match?.[2]?.toLowerCase() ?? ''] ?? 1;
    return check(match === null ? Number.NaN : Number(match[1]) * unit, given);
  };
  return {
    ...of,
    type: 'bytes',
    range,
    parseRaw: (raw) =>
      typeof raw === 'string' ? parseText(raw) : check(typeof raw === 'number' ? raw : NaN, raw),
    parseText,
  };
}

/** Text also takes 1, yes, on, 0, no, off in any case. */
export function boolean(of: Of<boolean>): Setting<boolean> {
  return {
    ...of,
    type: 'boolean',
    range: '',
    parseRaw: (raw) => (typeof raw === 'boolean' ? accepted(raw) : refused('true or false', raw)),
    parseText: (given) => {
      const word = given.trim().toLowerCase();
      if (TRUE_WORDS.has(word)) return accepted(true);
      if (FALSE_WORDS.has(word)) return accepted(false);
      return refused('true or false (or 1, yes, on, 0, no, off)', given);
    },
  };
}

export function choice<const T extends string>(
  of: Of<NoInfer<T>> & { values: readonly T[] },
): Setting<T> {
  const range = of.values.join(', ');
  const parse = (raw: RawValue): Parsed<T> => {
    const value = of.values.find((known) => known === raw);
    return value === undefined ? refused(`one of ${range}`, raw) : accepted(value);
  };
  return {
    ...of,
    type: 'choice',
    range,
    parseRaw: parse,
    parseText: (given) => parse(given.trim().toLowerCase()),
  };
}

/** As text, separated by commas. Items are trimmed; none may be empty. */
export function list(
  of: Of<readonly string[]> & { range?: string; refine?: Refine },
): Setting<readonly string[]> {
  const refine = of.refine ?? accepted;
  const parse = (items: readonly RawValue[]): Parsed<readonly string[]> => {
    const values: string[] = [];
    const objections: Objection[] = [];
    for (const [index, item] of items.entries()) {
      const parsed = typeof item === 'string' && item.trim() !== '' ? refine(item.trim()) : null;
      if (parsed === null)
        objections.push({ problem: `must hold texts, not ${shown(item)}`, index });
      else if (!parsed.ok) objections.push({ problem: `item ${parsed.problem}`, index });
      else values.push(parsed.value);
    }
    return acceptedUnless(values, objections);
  };
  return {
    ...of,
    type: 'list',
    range: of.range ?? '',
    parseRaw: (raw) => (Array.isArray(raw) ? parse(raw) : refused('a list of texts', raw)),
    parseText: (given) => parse(given.split(',').filter((item) => item.trim() !== '')),
  };
}

/** As text, `a=b,c=d`. `refineName` normalises a name. */
export function map<const V extends string>(
  of: Of<Readonly<Record<string, V>>> & {
    values: readonly V[];
    range?: string;
    refineName: Refine;
    refuse?: (name: string, value: V) => string | null;
  },
): Setting<Readonly<Record<string, V>>> {
  const pair = (given: string, raw: RawValue): Parsed<readonly [string, V]> => {
    const name = of.refineName(given.trim());
    if (!name.ok) return { ok: false, problem: `name ${name.problem}` };
    const value = of.values.find((known) => known === raw);
    if (value === undefined)
      return refused(`one of ${of.values.join(', ')} for '${name.value}'`, raw);
    const objection = of.refuse?.(name.value, value) ?? null;
    return objection === null ? accepted([name.value, value]) : { ok: false, problem: objection };
  };
  const parse = (pairs: readonly (readonly [string, RawValue])[]): Parsed<Record<string, V>> => {
    const values: Record<string, V> = {};
    const objections: Objection[] = [];
    for (const [index, [name, raw]] of pairs.entries()) {
      const parsed = pair(name, raw);
      if (!parsed.ok) objections.push({ problem: parsed.problem, index });
      else if (Object.hasOwn(values, parsed.value[0])) {
        objections.push({ problem: `names '${parsed.value[0]}' twice`, index });
      } else values[parsed.value[0]] = parsed.value[1];
    }
    return acceptedUnless(values, objections);
  };
  return {
    ...of,
    type: 'map',
    range: of.range ?? '',
    parseRaw: (raw) => (raw instanceof Map ? parse([...raw]) : refused('a map', raw)),
    parseText: (given) => {
      const pairs = given.split(',').filter((item) => item.trim() !== '');
      const odd = pairs.find((item) => !item.includes('='));
      if (odd !== undefined) return refused('a list like a=b,c=d', odd);
      return parse(pairs.map((item) => splitPair(item)));
    },
  };
}

/** Null in YAML or empty text means none. */
export function optional<T>(setting: Setting<T>): Setting<T | null> {
  return {
    ...setting,
    default: null,
    parseRaw: (raw) => (raw === null ? accepted(null) : setting.parseRaw(raw)),
    parseText: (given) => (given.trim() === '' ? accepted(null) : setting.parseText(given)),
  };
}

/** As text, JSON of the same shape. `parse` gets maps as `Map`. */
export function nested<T>(
  of: Of<T> & { type: 'list' | 'map'; range?: string; parse: (raw: RawValue) => Parsed<T> },
): Setting<T> {
  return {
    ...of,
    range: of.range ?? '',
    parseRaw: of.parse,
    parseText: (given) => {
      try {
        return of.parse(asRaw(JSON.parse(given)));
      } catch {
        return refused('JSON', given);
      }
    },
  };
}

function asRaw(value: unknown): RawValue {
  if (Array.isArray(value)) return value.map(asRaw);
  if (typeof value !== 'object' || value === null) return value as RawValue;
  return new Map(Object.entries(value).map(([name, member]) => [name, asRaw(member)]));
}

/** `10MiB` where the number is a whole multiple of a unit, else plain bytes. */
export function formatBytes(value: number): string {
  for (const [suffix, unit] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (value >= unit && value % unit === 0) return `${value / unit}${suffix}`;
  }
  return String(value);
}

function splitPair(item: string): [string, string] {
  const at = item.indexOf('=');
  return [item.slice(0, at), item.slice(at + 1).trim()];
}

function shown(raw: RawValue): string {
  if (raw === null) return 'empty';
  if (raw === undefined) return 'something nested';
  if (raw instanceof Map) return 'a map';
  if (Array.isArray(raw)) return 'a list';
  const whole = typeof raw === 'string' ? JSON.stringify(raw) : String(raw);
  return whole.length <= SHOWN_CHARACTERS ? whole : `${whole.slice(0, SHOWN_CHARACTERS)}…`;
}
