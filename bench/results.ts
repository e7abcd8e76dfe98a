/**
 * What was found out, as a table for a terminal and for RESULTS.md.
 */
import { type Finding, isReached, median, ratioOf, type Series, spreadOf } from './benchmark.ts';
import type { Benchmark, Goal } from './benchmark.ts';
import { shown } from './rounds.ts';

/** One benchmark that was run: its findings, or why there are none. */
export interface Outcome {
  readonly benchmark: Benchmark;
  readonly findings: readonly Finding[];
  /** Null when it was measured. */
  readonly problem: string | null;
  readonly isFailure: boolean;
  /** Cores that others kept busy right before. */
  readonly busyCores: number;
}

const HEADINGS = ['name', 'work', 'svc', 'reference', 'ratio', 'goal', 'reached'];
/** Rounds further apart than this share of their median are marked. */
const NOISY_SPREAD = 0.3;
/** Cores kept busy by others, past which the sides meet different machines. */
const NOISY_CORES = 0.3;

/** The table in Markdown. */
export function resultTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(rowsOf).map((cells) => `| ${cells.join(' | ')} |`);
  const head = `| ${HEADINGS.join(' | ')} |\n|${'---|'.repeat(HEADINGS.length)}`;
  return [head, ...rows].join('\n');
}

function rowsOf(outcome: Outcome): string[][] {
  const { benchmark, findings, problem } = outcome;
  if (problem !== null) {
    return [[benchmark.name, benchmark.work, '', '', '', '', `not measured: ${problem}`]];
  }
  return findings.map((finding, index) => {
    const { part, subject, reference, goal } = finding;
    const work = [index === 0 ? benchmark.work : '', part].filter((text) => text !== '').join(': ');
    const ratio = ratioOf(finding);
    return [
      index === 0 ? benchmark.name : '',
      work,
      figure(subject),
      reference === null ? '' : `${figure(reference)} (${reference.name})`,
      ratio === null ? '' : ratio.toFixed(2),
      goal === null ? '' : goalText(goal, subject),
      [verdict(finding), ...(isNoisy(finding, outcome.busyCores) ? ['noisy'] : [])].join(', '),
    ];
  });
}

function figure({ values, unit }: Series): string {
  return `${shown(median(values))} ${unit}`;
}

function goalText({ of, atLeast, atMost }: Goal, { unit }: Series): string {
  const suffix = of === 'ratio' ? ' ×' : ` ${unit}`;
  return atLeast === undefined ? `≤ ${atMost}${suffix}` : `≥ ${atLeast}${suffix}`;
}

function verdict(finding: Finding): string {
  const reached = isReached(finding);
  if (reached === null) return 'no goal';
  return reached ? 'yes' : '**no**';
}

/** Whether the rounds, or what else the machine did, leave doubt. */
function isNoisy({ subject, reference }: Finding, busyCores: number): boolean {
  const series = reference === null ? [subject] : [subject, reference];
  const measured = series.filter(({ values }) => values.length > 1);
  return measured.some((one) => busyCores > NOISY_CORES || spreadOf(one.values) > NOISY_SPREAD);
}

/** Every round of every side, for whoever doubts a median. */
export function roundList(outcomes: readonly Outcome[]): string {
  return outcomes
    .filter(({ problem }) => problem === null)
    .map(({ benchmark, findings, busyCores }) => {
      const names = new Map<Series['values'], string>();
      for (const { part, subject, reference } of findings) {
        if (reference !== null) names.set(reference.values, withUnit(reference, ''));
        names.set(subject.values, withUnit(subject, part));
      }
      const lines = [...names].map(
        ([values, name]) => `  - ${name}: ${values.map(shown).join(' · ')}`,
      );
      return [
        `- ${benchmark.name} (others kept ${busyCores.toFixed(1)} cores busy before)`,
        ...lines,
      ].join('\n');
    })
    .join('\n');
}

function withUnit({ name, unit }: Series, part: string): string {
  return `${name}${part === '' ? '' : `, ${part}`}, ${unit}`;
}
