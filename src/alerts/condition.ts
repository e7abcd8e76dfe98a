/** Whether a result is what an alert looks for, and what follows from the runs before. Pure: the preview runs it too. */
import { type AlertDefinition, isMuted } from './definition.ts';
import { durationMs } from './schedule.ts';

export interface AlertResult {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** There were more rows than a result may have. */
  readonly isCut: boolean;
}

/** What is kept of each key between runs. */
export interface KeyState {
  readonly key: string;
  /** Runs in a row in which it held, up to the present one. */
  readonly held: number;
  /** Runs in a row without it, since it fired. */
  readonly missed: number;
  readonly isFiring: boolean;
  /** Milliseconds of the epoch. */
  readonly firedAt: number | null;
  /** What `change` compares. */
  readonly value: number | null;
}

export interface Judgement {
  readonly fired: readonly { readonly key: string; readonly rows: AlertResult['rows'] }[];
  readonly resolved: readonly string[];
  /** It held, and was throttled or muted. */
  readonly quiet: number;
  /** All that is worth keeping; keys that are missing may be forgotten. */
  readonly states: readonly KeyState[];
}

/** The result cannot be judged: an error of the run. */
export class Unjudgeable extends Error {}

/** Values may come from anybody; more are no list that people work through. */
const MAX_KEYS = 500;
const MAX_KEY = 500;

interface Group {
  readonly rows: AlertResult['rows'];
  readonly holds: boolean;
  readonly value: number | null;
}

/** `at`: the time for which it ran, in milliseconds. Throws Unjudgeable. */
export function judge(
  definition: AlertDefinition,
  result: AlertResult,
  before: ReadonlyMap<string, KeyState>,
  at: number,
): Judgement {
  const { for: runs = 1, resolve, throttle } = definition;
  const groups = groupsOf(definition, result, before);
  const quietFor = throttle === undefined ? 0 : durationMs(throttle)!;
  const muted = isMuted(definition, at);
  const fired: { key: string; rows: AlertResult['rows'] }[] = [];
  const resolved: string[] = [];
  const states: KeyState[] = [];
  let quiet = 0;
  for (const key of new Set([...groups.keys(), ...before.keys()])) {
    const group = groups.get(key);
    const old = before.get(key);
    const holds = group?.holds === true;
    const held = holds ? Math.min((old?.held ?? 0) + 1, runs) : 0;
    const isDue = held >= runs;
    const lastFired = old?.firedAt ?? null;
    const isThrottled = lastFired !== null && at - lastFired < quietFor;
    const fires = isDue && !isThrottled && !muted;
    if (fires) fired.push({ key, rows: group!.rows });
    else if (isDue) quiet++;
    const wasFiring = old?.isFiring === true;
    const missed = holds || !wasFiring ? 0 : (old?.missed ?? 0) + 1;
    const ends = wasFiring && resolve !== undefined && missed >= resolve;
    if (ends) resolved.push(key);
    const firedAt = fires ? at : isThrottled ? lastFired : null;
    const isFiring = fires || (wasFiring && !ends);
    const value = group?.value ?? null;
    // What people resolve needs no memory once it is over.
    const isOver = !holds && resolve === undefined;
    const state = { key, held, missed, isFiring: isFiring && !isOver, firedAt, value };
    if (state.held > 0 || state.isFiring || firedAt !== null || value !== null) states.push(state);
  }
  return { fired, resolved, quiet, states };
}

function groupsOf(
  { when, by = [] }: AlertDefinition,
  result: AlertResult,
  before: ReadonlyMap<string, KeyState>,
): Map<string, Group> {
  if (when === undefined) return new Map();
  const { columns, rows, isCut } = result;
  if (isCut && !(when.type === 'rows' && by.length === 0) && when.type !== 'no data')
    throw new Unjudgeable(
      `The result has more than ${rows.length} rows, so not all were seen: let the query keep only the rows that matter (| where count > 10)`,
    );
  for (const name of [
    ...by,
    ...('column' in when && when.column !== undefined ? [when.column] : []),
  ]) {
    if (rows.length > 0 && !columns.includes(name))
      throw new Unjudgeable(`The result has no column '${name}'; it has ${columns.join(', ')}`);
  }
  const whole = (holds: boolean, value: number | null = null): Map<string, Group> => {
    const groups = new Map<string, Group>();
    if (!holds || by.length === 0) return groups.set('', { rows, holds, value });
    for (const [key, some] of byKey(rows, by)) groups.set(key, { rows: some, holds, value });
    return groups.size === 0 ? groups.set('', { rows, holds, value }) : groups;
  };
  switch (when.type) {
    case 'no data':
      return whole(rows.length === 0);
    case 'rows':
      return whole(
        when.more_than !== undefined ? rows.length > when.more_than : rows.length < when.less_than!,
      );
    case 'value': {
      const matching = rows.filter((row) => meets(row[when.column], when));
      const groups = new Map<string, Group>();
      for (const [key, some] of byKey(matching, by))
        groups.set(key, { rows: some, holds: true, value: null });
      return groups;
    }
    case 'change': {
      const groups = new Map<string, Group>();
      const values = when.column === undefined ? new Map([['', rows]]) : byKey(rows, by);
      for (const [key, some] of values) {
        const value =
          when.column === undefined ? some.length : numberOf(some[0]?.[when.column], when.column);
        const old = before.get(key)?.value ?? null;
        groups.set(key, { rows: some, holds: old !== null && hasChanged(old, value, when), value });
      }
      return groups;
    }
  }
}

function byKey(
  rows: AlertResult['rows'],
  by: readonly string[],
): Map<string, AlertResult['rows'][number][]> {
  const groups = new Map<string, AlertResult['rows'][number][]>();
  for (const row of rows) {
    const key = by
      .map((name) => textOf(row[name]))
      .join(', ')
      .slice(0, MAX_KEY)
      .toWellFormed();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  if (groups.size > MAX_KEYS)
    throw new Unjudgeable(
      `The rows have ${groups.size} different values of ${by.join(', ')}; an alert follows ${MAX_KEYS} at most`,
    );
  return groups;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

type ValueTest = Extract<NonNullable<AlertDefinition['when']>, { type: 'value' }>;

function meets(value: unknown, { more_than, less_than, equals, not_equals }: ValueTest): boolean {
  if (value === null || value === undefined) return false;
  if (equals !== undefined) return isSame(value, equals);
  if (not_equals !== undefined) return !isSame(value, not_equals);
  const number = numberIn(value);
  if (number === null) return false;
  return more_than !== undefined ? number > more_than : number < less_than!;
}

function isSame(value: unknown, wanted: string | number | boolean): boolean {
  if (typeof wanted === 'number') return numberIn(value) === wanted;
  return textOf(value) === String(wanted);
}

/** Datasets may have numbers as texts. */
function numberIn(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function numberOf(value: unknown, column: string): number {
  const number = numberIn(value);
  if (number !== null) return number;
  throw new Unjudgeable(`'${column}' of the first row is ${textOf(value)}, which is no number`);
}

type ChangeTest = Extract<NonNullable<AlertDefinition['when']>, { type: 'change' }>;

function hasChanged(
  old: number,
  value: number,
  { more_than, percent = false, direction = 'any' }: ChangeTest,
): boolean {
  const change = value - old;
  if (change === 0 || (direction === 'up' && change < 0) || (direction === 'down' && change > 0))
    return false;
  // From nothing every change is larger than any percentage.
  return (percent ? (Math.abs(change) * 100) / Math.abs(old) : Math.abs(change)) > more_than;
}
