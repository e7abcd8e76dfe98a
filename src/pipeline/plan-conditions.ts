/**
 * What every row that passes a first search meets, in words a source understands; and whether that is all there is to it.
 */
import type { Stage, Terms } from './ast.ts';
import type { StageContext } from './command.ts';
import { readCondition, splitCondition } from './condition.ts';
import { FlagValues } from './flag-values.ts';
import { fold } from './fold.ts';
import { fillText } from './placeholder.ts';
import type { Place } from './problem.ts';
import type { Schema } from './schema.ts';
import type { RowCondition } from './sources/source.ts';
import { timeBound, timeRangeOf, wordParts } from './term-match.ts';
import { timeOf } from './time.ts';
import { isArray } from './value.ts';

/** Conditions of a first stage. */
export interface PlannedConditions {
  readonly conditions: readonly RowCondition[];
  /** A row that meets them passes the stage, unchanged. */
  readonly isExact: boolean;
}

const UNKNOWN: PlannedConditions = { conditions: [], isExact: false };

/** Conditions every row that passes the stage meets. */
export function plannedConditions(
  stage: Stage,
  schema: Schema,
  context: StageContext,
): PlannedConditions {
  if (stage.command !== 'search') return { conditions: [], isExact: stage.command === 'from' };
  if (stage.arguments.form === 'terse')
    return ofSearch(stage.arguments.args as Terms, schema, context);
  const { flags: given } = stage.arguments;
  const flags = new FlagValues('search', stage.arguments, context.parameters);
  const all = flags
    .words('filter')
    .map(({ text, place }) => ofFilter(text, place, schema, context));
  return {
    conditions: all.flatMap(({ conditions }) => conditions),
    isExact:
      all.every(({ isExact }) => isExact) && Object.keys(given).every((name) => name === 'filter'),
  };
}

function exactly(condition: RowCondition): PlannedConditions {
  return { conditions: [condition], isExact: true };
}

function ofFilter(
  text: string,
  place: Place,
  schema: Schema,
  context: StageContext,
): PlannedConditions {
  const cut = splitCondition(text);
  if (cut === null) return UNKNOWN;
  const { parameters } = context;
  const { reference, lookup, operand } = readCondition(cut.path, cut.value, {
    schema,
    parameters,
    place,
  });
  if (reference.column === null) return UNKNOWN;
  const { name: column, type } = schema.columns[reference.column]!;
  if (type === 'time') return ofTimeLookup(column, lookup, operand);
  if (type !== 'text') return UNKNOWN;
  // A text that spells a time equals other spellings of it.
  if (lookup === 'exact' && typeof operand === 'string' && timeOf(operand) === null) {
    return exactly({ kind: 'equals', column, values: [operand] });
  }
  if (lookup === 'in' && isArray(operand)) {
    const values = operand.filter((one) => typeof one === 'string' && timeOf(one) === null);
    return values.length === operand.length
      ? exactly({ kind: 'equals', column, values: values as string[] })
      : UNKNOWN;
  }
  if (
    (lookup === 'contains' || lookup === 'icontains') &&
    typeof operand === 'string' &&
    operand !== ''
  ) {
    return {
      conditions: [{ kind: 'contains-folded', column, text: fold(operand) }],
      isExact: false,
    };
  }
  return UNKNOWN;
}

function ofTimeLookup(column: string, lookup: string, operand: unknown): PlannedConditions {
  const range = (from: string | null, to: string | null, isExact: boolean): PlannedConditions => ({
    conditions: [{ kind: 'time', column, from, to }],
    isExact,
  });
  if (lookup === 'range' && Array.isArray(operand)) {
    const [from, to] = operand as unknown[];
    return typeof from === 'string' && typeof to === 'string' ? range(from, to, true) : UNKNOWN;
  }
  if (typeof operand !== 'string') return UNKNOWN;
  if (lookup === 'exact') return range(operand, operand, true);
  if (lookup === 'gte' || lookup === 'gt') return range(operand, null, lookup === 'gte');
  return lookup === 'lte' || lookup === 'lt' ? range(null, operand, lookup === 'lte') : UNKNOWN;
}

function ofSearch(terms: Terms, schema: Schema, context: StageContext): PlannedConditions {
  const conditions: RowCondition[] = [];
  let isExact = true;
  const { earliest, latest } = timeRangeOf(terms, { schema, ...context });
  if (earliest !== null || latest !== null) {
    conditions.push({
      kind: 'time',
      column: '_time',
      from: earliest,
      to: latest,
      isOpenEnded: true,
    });
  }
  const add = (planned: PlannedConditions): void => {
    conditions.push(...planned.conditions);
    isExact &&= planned.isExact;
  };
  const visit = (item: Terms): void => {
    if (item.kind === 'all' || item.kind === 'and') item.items.forEach(visit);
    else if (item.kind === 'word') add(ofWord(item, context));
    else if (item.kind !== 'compare') isExact = false;
    else if (timeBound(item) === null) add(ofComparison(item, schema, context));
  };
  visit(terms);
  return { conditions, isExact };
}

/** A word with stars between its parts has them in order, which no condition says. */
function ofWord(
  { word, isQuoted }: Extract<Terms, { kind: 'word' }>,
  { parameters }: StageContext,
): PlannedConditions {
  const parts = wordParts(fillText(word.text, parameters, word.place), isQuoted);
  const wanted = parts.filter((part) => part !== '');
  return {
    conditions: wanted.map((text) => ({ kind: 'contains-folded', column: 'data', text })),
    isExact: wanted.length < 2 && !wanted.some((part) => part.includes('\0')),
  };
}

/** Only plain values: wildcards, times and numbers have meanings of their own. */
function ofComparison(
  terms: Extract<Terms, { kind: 'compare' }>,
  schema: Schema,
  { parameters }: StageContext,
): PlannedConditions {
  const index = schema.indexOf(terms.field.text);
  if (terms.op !== '=' || index < 0 || schema.columns[index]!.type !== 'text') return UNKNOWN;
  const values: string[] = [];
  for (const value of terms.values) {
    const text = fillText(value.text, parameters, value.place);
    if ((!value.isQuoted && /[*\\]/.test(text)) || /^\d{4}-/.test(text)) return UNKNOWN;
    values.push(fold(text));
  }
  return exactly({ kind: 'equals-folded', column: terms.field.text, values });
}
