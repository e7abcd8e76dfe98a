/**
 * Placeholders `{name}` and `{name:format}` (SL-90 to SL-92).
 *
 * In a parsed query each is a mark of two noncharacters around its name, so that no parser can take a value for syntax:
 * values are put in after everything is parsed. Those characters in the text of the caller become marks of themselves.
 */
import { Problem, unknownName, type Place } from './problem.ts';
import { isTime, moveMs, floorMs, msOf, timeFromMs, type TimeUnit } from './time.ts';
import { formatTime } from './time-format.ts';
import { textOf, type Value } from './value.ts';

const OPEN = '\uFDD0';
const CLOSE = '\uFDD1';
const SELF = '!';
const QUOTED = '!e';
const PLACEHOLDER =
  /\{\{([A-Za-z_]\w*(?::[^{}]*)?)\}\}|\{([A-Za-z_]\w*(?::[^{}]*)?)\}|[\uFDD0\uFDD1]/g;
const MARK = /\uFDD0([^\uFDD1]*)\uFDD1/g;
const LONE_MARK = /^\uFDD0([A-Za-z_]\w*)(?::([^\uFDD1]*))?\uFDD1$/;

/** Values a query may name in braces. */
export type Parameters = ReadonlyMap<string, Value>;

/** The text with its placeholders marked; `{{name}}` becomes the text `{name}`. */
export function markPlaceholders(text: string): string {
  if (!/[{\uFDD0\uFDD1]/.test(text)) return text;
  return text.replace(PLACEHOLDER, (whole, escaped?: string, name?: string) => {
    if (escaped !== undefined) return `{${escaped}}`;
    if (name !== undefined) return OPEN + name + CLOSE;
    return OPEN + SELF + (whole === OPEN ? '0' : '1') + CLOSE;
  });
}

/** A marked text as it is written in a query. */
export function unmarkPlaceholders(text: string): string {
  if (!/[{\uFDD0]/.test(text)) return text;
  const escaped = text.replace(/\{([A-Za-z_]\w*(?::[^{}\uFDD0\uFDD1]*)?)\}/g, '{{$1}}');
  return escaped.replace(MARK, (_whole, name: string) => selfOf(name) ?? `{${name}}`);
}

/** Whether the text holds a placeholder. */
export function hasPlaceholder(text: string): boolean {
  return text.includes(OPEN);
}

/** Names of all placeholders in a text. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(MARK)]
    .map(([, name]) => name!)
    .filter((name) => selfOf(name) === null)
    .map((name) => name.split(':', 1)[0]!);
}

function selfOf(name: string): string | null {
  if (!name.startsWith(SELF)) return null;
  if (name === QUOTED) return '';
  return name === `${SELF}0` ? OPEN : CLOSE;
}

/** The marked text of a quoted part: a placeholder that is all of it stands for its text, whatever its type. */
export function asQuoted(marked: string): string {
  return LONE_MARK.test(marked) ? OPEN + QUOTED + CLOSE + marked : marked;
}

/** The text with values in place of its marks. Throws `unknown_placeholder`, `bad_time`. */
export function fillText(text: string, parameters: Parameters, place: Place | null): string {
  if (!hasPlaceholder(text)) return text;
  return text.replace(MARK, (_whole, name: string) => {
    const self = selfOf(name);
    if (self !== null) return self;
    const [first, ...rest] = name.split(':');
    const format = rest.length > 0 ? rest.join(':') : undefined;
    return textOf(valueOf(first!, format, parameters, place)) ?? '';
  });
}

/** As {@link fillText}, but a text that is nothing but a placeholder is its value, with the value's type. */
export function fillValue(text: string, parameters: Parameters, place: Place | null): Value {
  const lone = LONE_MARK.exec(text);
  if (lone) return valueOf(lone[1]!, lone[2], parameters, place);
  return fillText(text, parameters, place);
}

/** True when the text is nothing but a placeholder. */
export function isLonePlaceholder(text: string): boolean {
  return LONE_MARK.test(text);
}

function valueOf(
  name: string,
  format: string | undefined,
  parameters: Parameters,
  place: Place | null,
): Value {
  const value = parameters.get(name);
  if (value === undefined) {
    throw new Problem('unknown_placeholder', `Unknown placeholder '${name}'`, {
      place,
      ...unknownName(name, parameters.keys()),
    });
  }
  if (format === undefined) return value;
  if (typeof value !== 'string' || !isTime(value)) {
    throw new Problem('bad_time', `Placeholder '${name}' is not a time`, { place });
  }
  return formatTime(value, format);
}

const STARTS: readonly (readonly [string, TimeUnit])[] = [
  ['minute', 'm'],
  ['hour', 'h'],
  ['day', 'd'],
  ['week', 'w'],
  ['month', 'mon'],
  ['year', 'y'],
];

/** The built-in placeholders of one run (SL-92); `now` is in the form of SL-13. */
export function builtInParameters(now: string): Map<string, Value> {
  const ms = msOf(now);
  const values = new Map<string, Value>([['now', now]]);
  for (const [name, unit] of STARTS) {
    const start = floorMs(ms, unit);
    values.set(`this_${name}`, timeFromMs(start));
    values.set(`last_${name}`, timeFromMs(moveMs(start, -1, unit)));
  }
  for (const days of [7, 30]) {
    values.set(`last_${days}_days`, timeFromMs(ms - days * 86_400_000, now.slice(23, 26)));
  }
  values.set('today', now.slice(0, 10));
  values.set('yesterday', timeFromMs(ms - 86_400_000)!.slice(0, 10));
  values.set('timezone', 'UTC');
  return values;
}

/** Names and meanings of the built-in placeholders, for the reference. */
export const BUILT_IN_PLACEHOLDERS: readonly { readonly name: string; readonly summary: string }[] =
  [
    { name: 'now', summary: 'the moment the run began' },
    ...STARTS.flatMap(([name]) => [
      { name: `this_${name}`, summary: `start of the current ${name}` },
      { name: `last_${name}`, summary: `start of the previous ${name}` },
    ]),
    { name: 'last_7_days', summary: 'seven days before now' },
    { name: 'last_30_days', summary: 'thirty days before now' },
    { name: 'today', summary: 'the date of today' },
    { name: 'yesterday', summary: 'the date of yesterday' },
    { name: 'timezone', summary: 'always UTC' },
  ];
