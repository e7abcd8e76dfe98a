/**
 * What SQL does of a query: conditions that let a source leave rows out, and whole first stages where the answer is
 * exactly the same (SL-150).
 *
 * Conditions are necessary, not sufficient: the stages look at every row again, so where the plan ends cannot be seen in
 * the rows. Only what SQL answers exactly as the operators do becomes a stage of its own.
 */
import type { Stage, Terms } from './ast.ts';
import type { StageContext } from './command.ts';
import { findCommand } from './command-table.ts';
import { readCondition, splitCondition } from './condition.ts';
import { FlagValues } from './flag-values.ts';
import { fold } from './fold.ts';
import { fillText } from './placeholder.ts';
import type { PlannedPrefix, PlannedRead } from './run.ts';
import type { Schema } from './schema.ts';
import { timeRangeOf, wordParts } from './term-match.ts';
import { timeOf } from './time.ts';
import type { RowCondition } from './sources/source.ts';
import { isArray, type Row } from './value.ts';

/** A plan for the first stages; null when the source has nothing to plan. */
export function planPrefix(
  read: PlannedRead,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  const { source, order, stages, context } = read;
  const conditions = conditionsOf(stages[0]!, source.schema, context);
  const bound = findCommand(stages[0]!.command)!.bindStage(stages[0]!, null, context);
  if (bound.kind !== 'source' || bound.then.kind !== 'rows') return null;
  const { then } = bound;
  const batches = function* (): Generator<Row[]> {
    const operator = then.start({ tick: () => {}, hold: () => {} });
    for (const batch of source.read(order, conditions)) {
      onRead(batch.length);
      const rows = operator.push(batch);
      if (rows.length > 0) yield rows;
      if (operator.isDone?.()) break;
    }
    const rest = operator.finish();
    if (rest.length > 0) yield rest;
  };
  return { stages: 1, schema: then.schema, batches: { [Symbol.iterator]: batches } };
}

/** Conditions every row that passes the first stage meets. */
export function conditionsOf(stage: Stage, schema: Schema, context: StageContext): RowCondition[] {
  if (stage.command !== 'search') return [];
  if (stage.arguments.form === 'terse') {
    return ofTerms(stage.arguments.args as Terms, schema, context);
  }
  const flags = new FlagValues('search', stage.arguments, context.parameters);
  return flags.words('filter').flatMap(({ text, place }) => ofFilter(text, place, schema, context));
}

function ofFilter(
  text: string,
  place: { at: number; length: number },
  schema: Schema,
  context: StageContext,
): RowCondition[] {
  const cut = splitCondition(text);
  if (cut === null) return [];
  const { reference, lookup, operand } = readCondition(cut.path, cut.value, {
    schema,
    parameters: context.parameters,
    place,
  });
  if (reference.column === null) return [];
  const { name: column, type } = schema.columns[reference.column]!;
  if (type === 'text') {
    if (lookup === 'exact' && typeof operand === 'string' && timeOf(operand) === null)
      return [{ kind: 'equals', column, values: [operand] }];
    if (
      lookup === 'in' &&
      isArray(operand) &&
      operand.every((one) => typeof one === 'string' && timeOf(one) === null)
    ) {
      return [{ kind: 'equals', column, values: operand as string[] }];
    }
    if ((lookup === 'contains' || lookup === 'icontains') && typeof operand === 'string') {
      return [{ kind: 'contains-folded', column, text: fold(operand) }];
    }
  }
  if (type === 'time') return ofTimeLookup(column, lookup, operand);
  return [];
}

function ofTimeLookup(column: string, lookup: string, operand: unknown): RowCondition[] {
  const range = (from: string | null, to: string | null): RowCondition[] => [
    { kind: 'time', column, from, to },
  ];
  if (lookup === 'range' && Array.isArray(operand)) {
    const [from, to] = operand as unknown[];
    return typeof from === 'string' && typeof to === 'string' ? range(from, to) : [];
  }
  if (typeof operand !== 'string') return [];
  if (lookup === 'exact') return range(operand, operand);
  if (lookup === 'gte' || lookup === 'gt') return range(operand, null);
  return lookup === 'lte' || lookup === 'lt' ? range(null, operand) : [];
}

function ofTerms(terms: Terms, schema: Schema, context: StageContext): RowCondition[] {
  const conditions: RowCondition[] = [];
  const { earliest, latest } = timeRangeOf(terms, { schema, ...context });
  if (earliest !== null || latest !== null) {
    conditions.push({ kind: 'time', column: '_time', from: earliest, to: latest });
  }
  const visit = (item: Terms): void => {
    if (item.kind === 'all' || item.kind === 'and') item.items.forEach(visit);
    else if (item.kind === 'word') conditions.push(...ofWord(item, context));
    else if (item.kind === 'compare') conditions.push(...ofComparison(item, schema, context));
  };
  visit(terms);
  return conditions;
}

function ofWord(
  { word, isQuoted }: Extract<Terms, { kind: 'word' }>,
  { parameters }: StageContext,
): RowCondition[] {
  const parts = wordParts(fillText(word.text, parameters, word.place), isQuoted);
  return parts
    .filter((part) => part !== '')
    .map((part) => ({ kind: 'contains-folded', column: 'data', text: part }));
}

/** Only plain values: wildcards, times and numbers have meanings of their own. */
function ofComparison(
  terms: Extract<Terms, { kind: 'compare' }>,
  schema: Schema,
  { parameters }: StageContext,
): RowCondition[] {
  const index = schema.indexOf(terms.field.text);
  if (terms.op !== '=' || index < 0 || schema.columns[index]!.type !== 'text') return [];
  const values: string[] = [];
  for (const value of terms.values) {
    const text = fillText(value.text, parameters, value.place);
    if ((!value.isQuoted && /[*\\]/.test(text)) || /^\d{4}-/.test(text)) return [];
    values.push(fold(text));
  }
  return [{ kind: 'equals-folded', column: terms.field.text, values }];
}
