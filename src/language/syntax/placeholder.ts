/**
 * Placeholders `{name}` and `{name:format}`.
 *
 * In a parsed query each is a mark of two noncharacters around its name, filled in after parsing, so no value can be
 * taken for syntax. Those characters in the caller's text become marks of themselves.
 */
import { Problem, unknownName, type Place } from './problem.ts';
import { moveMs, msOf, startOf, timeFromMs, timeOf, type TimeUnit } from '../expressions/time.ts';
import { formatTime } from '../expressions/time-format.ts';
import { textOf, type Value } from '../expressions/value.ts';
import { zone } from '../expressions/zone.ts';

const OPEN = '\uFDD0';
const CLOSE = '\uFDD1';
const SELF = '!';
const QUOTED = '!e';
const PLACEHOLDER =
  /\{\{([A-Za-z_]\w*(?::[^{}]*)?)\}\}|\{([A-Za-z_]\w*(?::[^{}]*)?)\}|[\uFDD0\uFDD1]/g;
const MARK = /\uFDD0([^\uFDD1]*)\uFDD1/g;
const LONE_MARK = /^\uFDD0([A-Za-z_]\w*)(?::([^\uFDD1]*))?\uFDD1$/;

export type Parameters = ReadonlyMap<string, Value>;

/** `{{name}}` becomes the text `{name}`. */
export function markPlaceholders(text: string): string {
  if (!/[{\uFDD0\uFDD1]/.test(text)) return text;
  return text.replace(PLACEHOLDER, (whole, escaped?: string, name?: string) => {
    if (escaped !== undefined) return `{${escaped}}`;
    if (name !== undefined) return OPEN + name + CLOSE;
    return OPEN + SELF + (whole === OPEN ? '0' : '1') + CLOSE;
  });
}

export function unmarkPlaceholders(text: string): string {
  if (!/[{\uFDD0]/.test(text)) return text;
  const escaped = text.replace(/\{([A-Za-z_]\w*(?::[^{}\uFDD0\uFDD1]*)?)\}/g, '{{$1}}');
  return escaped.replace(MARK, (_whole, name: string) => selfOf(name) ?? `{${name}}`);
}

export function hasPlaceholder(text: string): boolean {
  return text.includes(OPEN);
}

export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(MARK)]
    .map(([, name]) => name!)
    .filter((name) => selfOf(name) === null)
    .map((name) => name.split(':', 1)[0]!);
}

export function isFormatted(text: string, name: string): boolean {
  return text.includes(`${OPEN}${name}:`);
}

function selfOf(name: string): string | null {
  if (!name.startsWith(SELF)) return null;
  if (name === QUOTED) return '';
  return name === `${SELF}0` ? OPEN : CLOSE;
}

export function asQuoted(marked: string): string {
  return LONE_MARK.test(marked) ? OPEN + QUOTED + CLOSE + marked : marked;
}

/** Throws `unknown_placeholder`, `bad_time`. */
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

/** As {@link fillText}, but a lone placeholder keeps its value's type. */
export function fillValue(text: string, parameters: Parameters, place: Place | null): Value {
  const lone = LONE_MARK.exec(text);
  if (lone) return valueOf(lone[1]!, lone[2], parameters, place);
  return fillText(text, parameters, place);
}

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
  const time = typeof value === 'string' ? timeOf(value) : null;
  if (time === null)
    throw new Problem('bad_time', `Placeholder '${name}' is not a time`, { place });
  return formatTime(time, format);
}

const STARTS: readonly (readonly [string, TimeUnit])[] = [
  ['minute', 'm'],
  ['hour', 'h'],
  ['day', 'd'],
  ['week', 'w'],
  ['month', 'mon'],
  ['year', 'y'],
];

export function builtInParameters(now: string): Map<string, Value> {
  const ms = msOf(now);
  const values = new Map<string, Value>([['now', now]]);
  for (const [name, unit] of STARTS) {
    const start = startOf(ms, unit);
    values.set(`this_${name}`, timeFromMs(start));
    // The previous unit, also where clocks change at its start.
    values.set(`last_${name}`, timeFromMs(startOf(start - 1, unit)));
  }
  for (const days of [7, 30]) {
    values.set(`last_${days}_days`, timeFromMs(moveMs(ms, -days, 'd'), now.slice(23, 26)));
  }
  const today = zone().toLocal(ms);
  values.set('today', timeFromMs(today)!.slice(0, 10));
  values.set('yesterday', timeFromMs(today - 86_400_000)!.slice(0, 10));
  values.set('timezone', zone().name);
  return values;
}

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
    { name: 'timezone', summary: 'the zone of the run' },
  ];
