/**
 * Taking turns: A B A B, so that what else the machine does meets all sides alike.
 */
import { type Bench, spreadOf } from './benchmark.ts';

/** What each side gave, in the order of the rounds. */
export type Rounds<Side extends string> = Record<Side, number[]>;

/** So many rounds are always measured, if so many are wanted; those without a goal get no more. */
const FEWEST = 3;
/** Rounds that are no further apart than this share of their median, half of what counts as noisy, need no more of them. */
const STEADY_SPREAD = 0.15;

/** For figures without a goal: enough rounds to show whether they agree. */
export function forOrientation<Any extends Pick<Bench, 'rounds'>>(bench: Any): Any {
  return { ...bench, rounds: Math.min(bench.rounds, FEWEST) };
}

/**
 * Measures every side once a round, in the order given, until there are `bench.rounds` of them or FEWEST and every side is
 * steady. The first failure ends it.
 */
export async function inTurns<Side extends string>(
  bench: Pick<Bench, 'rounds' | 'say'>,
  sides: Readonly<Record<Side, () => Promise<number>>>,
): Promise<Rounds<Side>> {
  const names = Object.keys(sides) as Side[];
  const rounds = Object.fromEntries(names.map((name) => [name, []])) as unknown as Rounds<Side>;
  for (let round = 1; round <= bench.rounds; round++) {
    for (const name of names) rounds[name].push(await sides[name]());
    const last = names.map((name) => `${name} ${shown(rounds[name].at(-1)!)}`);
    bench.say(`round ${round}: ${last.join(', ')}`);
    const isSteady = names.every((name) => spreadOf(rounds[name]) <= STEADY_SPREAD);
    if (round >= FEWEST && isSteady) break;
  }
  return rounds;
}

/** A figure with as many digits as mean something. */
export function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
