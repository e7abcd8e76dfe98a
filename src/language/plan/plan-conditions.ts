/**
 * What every row that passes a first search meets, as conditions a source understands; and what is left of the
 * search.
 */
import type { FlagArguments, Stage, Terms } from '../syntax/ast.ts';
import type { StageContext } from '../command.ts';
import {
  COMPARISONS,
  type Condition,
  type Lookup,
  readCondition,
  splitCondition,
} from '../expressions/condition.ts';
import { FlagValues } from '../syntax/flag-values.ts';
import { STRATEGY } from '../limits.ts';
import { fillText, isLonePlaceholder } from '../syntax/placeholder.ts';
import type { Schema } from '../run/schema.ts';
import type { RowCondition } from '../sources/source.ts';
import { timeBound, timeRangeOf, wordParts, fold } from '../expressions/term-match.ts';
import { timeOf } from '../expressions/time.ts';
import { isArray, numberOf, type Value } from '../expressions/value.ts';

export interface PlannedSearch {
  readonly conditions: readonly RowCondition[];
  readonly rest: Stage | null;
}

/** `isExact`: a row that meets the conditions passes the part. */
interface Planned {
  readonly conditions: readonly RowCondition[];
  readonly isExact: boolean;
}

const UNKNOWN: Planned = { conditions: [], isExact: false };

type Decides = (condition: RowCondition) => boolean;

export function plannedSearch(
  stage: Stage,
  schema: Schema,
  context: StageContext,
  decides: Decides,
): PlannedSearch {
  if (stage.command === 'from') return { conditions: [], rest: null };
  if (stage.command === 'filter' && stage.arguments.form === 'flag')
    return ofFlags(stage, stage.arguments, schema, context, decides);
  if (stage.command !== 'search') return { conditions: [], rest: stage };
  return stage.arguments.form === 'terse'
    ? ofTerms(stage, stage.arguments.args as Terms, schema, context, decides)
    : ofFlags(stage, stage.arguments, schema, context, decides);
}

/** Past the limit a condition is not passed to SQL; the stage tests it. */
function withRoom(planned: Planned, { length }: readonly RowCondition[]): Planned {
  return length + planned.conditions.length > STRATEGY.searchConditions ? UNKNOWN : planned;
}

function isDone({ conditions, isExact }: Planned, decides: Decides): boolean {
  return isExact && conditions.every(decides);
}

const CONDITION_FLAGS = ['filter', 'exclude', 'condition'];

function ofFlags(
  stage: Stage,
  given: FlagArguments,
  schema: Schema,
  context: StageContext,
  decides: Decides,
): PlannedSearch {
  const values = new FlagValues(stage.command, given, context.parameters);
  const conditions: RowCondition[] = [];
  const flags: Record<string, (typeof given.flags)[string]> = { ...given.flags };
  for (const name of CONDITION_FLAGS) {
    const words = given.flags[name];
    // Of a repeated `--condition` only the last counts.
    if (words === undefined || (name === 'condition' && words.length > 1)) continue;
    const left = values.words(name).flatMap(({ text, place }, at) => {
      const cut = splitCondition(text);
      if (cut === null) return [words[at]!];
      const { parameters } = context;
      const condition = readCondition(cut.path, cut.value, { schema, parameters, place });
      const found = ofCondition(condition, schema);
      const planned = withRoom(name === 'exclude' ? negated(found) : found, conditions);
      conditions.push(...planned.conditions);
      return isDone(planned, decides) ? [] : [words[at]!];
    });
    if (left.length > 0) flags[name] = left;
    else delete flags[name];
  }
  const isEmpty = Object.keys(flags).every((name) => name === 'model' || name === 'using');
  return {
    conditions,
    rest: isEmpty ? null : { ...stage, arguments: { ...given, flags } },
  };
}

/** Possible only for one exact condition on a column without nulls. */
function negated({ conditions, isExact }: Planned): Planned {
  const [only] = conditions;
  if (!isExact || conditions.length !== 1 || only === undefined) return UNKNOWN;
  if (only.kind !== 'equals' && only.kind !== 'equals-folded') return UNKNOWN;
  return exactly({ ...only, isNot: !only.isNot });
}

function exactly(condition: RowCondition): Planned {
  return { conditions: [condition], isExact: true };
}

function atLeast(condition: RowCondition): Planned {
  return { conditions: [condition], isExact: false };
}

function ofCondition({ reference, lookup, operand }: Condition, schema: Schema): Planned {
  if (reference.column === null) return ofMember(reference.path, lookup, operand, schema);
  const { name: column, type } = schema.columns[reference.column]!;
  if (type === 'time') return ofTimeLookup(column, lookup, operand);
  if (type === 'int') return ofIntegerLookup(column, lookup, operand);
  if (type !== 'text') return UNKNOWN;
  if (lookup === 'exact' && isPlainText(operand))
    return exactly({ kind: 'equals', column, values: [operand] });
  if (lookup === 'in' && isArray(operand)) {
    const values = operand.filter(isPlainText);
    return values.length === operand.length ? exactly({ kind: 'equals', column, values }) : UNKNOWN;
  }
  const isContains = lookup === 'contains' || lookup === 'icontains';
  if (!isContains || typeof operand !== 'string') return UNKNOWN;
  const text = lookup === 'contains' ? inmost(operand) : operand;
  return text === '' ? UNKNOWN : atLeast({ kind: 'contains-folded', column, text: fold(text) });
}

/**
 * Any text that holds the whole still contains this part after composition, which folding does: accents at its start
 * belong to the letter before it, and its last letter may be followed by accents.
 */
function inmost(text: string): string {
  const composed = text.normalize('NFC').replace(/^\p{M}+/u, '');
  // No accent composes with a digit or another sign of ASCII.
  return composed.replace(/(?:[^ -;?@[-`{-~]\p{M}*|\p{M}+)$/u, '');
}

/** A text that spells a time also equals other spellings of it. */
function isPlainText(value: Value): value is string {
  return typeof value === 'string' && timeOf(value) === null;
}

function ofIntegerLookup(column: string, lookup: Lookup, operand: Value): Planned {
  const op = lookup === 'exact' ? '=' : COMPARISONS[lookup];
  if (op === undefined || typeof operand !== 'number') return UNKNOWN;
  return exactly({ kind: 'integer', column, op, value: operand });
}

function ofMember(
  path: { readonly column: number; readonly rest: string } | null,
  lookup: Lookup,
  operand: Value,
  schema: Schema,
): Planned {
  if (path === null || !isMember(path.rest)) return UNKNOWN;
  const at = { column: schema.columns[path.column]!.name, member: path.rest };
  const op = COMPARISONS[lookup];
  if (op !== undefined && typeof operand === 'number')
    return atLeast({ kind: 'member-number', ...at, op, value: operand });
  const wanted = lookup === 'in' && isArray(operand) ? operand : [operand];
  if (lookup !== 'exact' && lookup !== 'in') return UNKNOWN;
  const values = wanted.filter((one) => typeof one === 'number' || isPlainText(one));
  if (values.length < wanted.length || values.length === 0) return UNKNOWN;
  return atLeast({ kind: 'member-equals', ...at, values: values as (string | number)[] });
}

/** One step, no position in an array. */
function isMember(rest: string): boolean {
  return /^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/.test(rest) && !rest.includes('__');
}

function ofTimeLookup(column: string, lookup: string, operand: unknown): Planned {
  const range = (from: string | null, to: string | null, isExact: boolean): Planned => ({
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

function ofTerms(
  stage: Stage,
  terms: Terms,
  schema: Schema,
  context: StageContext,
  decides: Decides,
): PlannedSearch {
  const conditions: RowCondition[] = [];
  const { earliest, latest } = timeRangeOf(terms, { schema, ...context });
  const range: RowCondition = {
    kind: 'time',
    column: '_time',
    from: earliest,
    to: latest,
    isOpenEnded: true,
  };
  const hasRange = earliest !== null || latest !== null;
  if (hasRange) conditions.push(range);
  const isRangeDone = hasRange && decides(range);
  const left: Terms[] = [];
  const visit = (item: Terms): void => {
    if (item.kind === 'all' || item.kind === 'and') return item.items.forEach(visit);
    if (item.kind === 'compare' && timeBound(item) !== null) {
      if (!isRangeDone) left.push(item);
      return;
    }
    const planned = withRoom(ofTerm(item, schema, context), conditions);
    conditions.push(...planned.conditions);
    if (!isDone(planned, decides)) left.push(item);
  };
  visit(terms);
  if (left.length === 0) return { conditions, rest: null };
  const args: Terms = { kind: 'all', items: left };
  return { conditions, rest: { ...stage, arguments: { form: 'terse', args } } };
}

function ofTerm(item: Terms, schema: Schema, context: StageContext): Planned {
  if (item.kind === 'word') return ofWord(item, schema, context);
  if (item.kind === 'compare') return ofComparison(item, schema, context);
  return item.kind === 'not' ? negated(ofTerm(item.item, schema, context)) : UNKNOWN;
}

/** Parts between wildcards must come in order, which no condition expresses. */
function ofWord(
  { word, isQuoted }: Extract<Terms, { kind: 'word' }>,
  schema: Schema,
  { parameters }: StageContext,
): Planned {
  const parts = wordParts(fillText(word.text, parameters, word.place), isQuoted);
  const wanted = parts.filter((part) => part !== '');
  // An empty phrase is in every text, but a row without a text does not match.
  const isEmptyPhrase = isQuoted && wanted.length === 0;
  if (!schema.has('data') || isEmptyPhrase) return UNKNOWN;
  return {
    conditions: wanted.map((text) => ({ kind: 'contains-folded', column: 'data', text })),
    isExact: wanted.length < 2 && !wanted.some((part) => part.includes('\0')),
  };
}

/** Only plain values: wildcards and times have meanings of their own. */
function ofComparison(
  terms: Extract<Terms, { kind: 'compare' }>,
  schema: Schema,
  context: StageContext,
): Planned {
  const { parameters } = context;
  const name = fillText(terms.field.text, parameters, terms.field.place);
  const texts: string[] = [];
  for (const value of terms.values) {
    const text = fillText(value.text, parameters, value.place);
    const isLiteral = value.isQuoted || isLonePlaceholder(value.text);
    if ((!isLiteral && /[*\\]/.test(text)) || /^\d{4}-/.test(text)) return UNKNOWN;
    texts.push(text);
  }
  const index = schema.indexOf(name);
  if (index < 0) return ofMemberTerm(terms, name, texts, schema);
  const { name: column, type } = schema.columns[index]!;
  if (type === 'int') return ofIntegerTerm(terms, column, texts);
  if (type !== 'text' || (terms.op !== '=' && terms.op !== '!=')) return UNKNOWN;
  return exactly({
    kind: 'equals-folded',
    column,
    values: texts.map(fold),
    ...(terms.op === '!=' && { isNot: true }),
  });
}

/** Digits only; other spellings may be texts that no number equals. */
function ofIntegerTerm(
  { op, values }: Extract<Terms, { kind: 'compare' }>,
  column: string,
  texts: readonly string[],
): Planned {
  const [text] = texts;
  if (op === '!=' || values.length > 1 || !/^-?\d{1,15}$/.test(text ?? '')) return UNKNOWN;
  return exactly({ kind: 'integer', column, op, value: Number(text) });
}

function ofMemberTerm(
  { op }: Extract<Terms, { kind: 'compare' }>,
  name: string,
  texts: readonly string[],
  schema: Schema,
): Planned {
  const path = schema.find(name, 'terse')?.path;
  if (!path || !isMember(path.rest) || op === '!=') return UNKNOWN;
  const at = { column: schema.columns[path.column]!.name, member: path.rest };
  const numbers = texts.map(numberOf);
  if (op !== '=') {
    const [value] = numbers;
    // Decimals would be compared by their spelling.
    return typeof value === 'number'
      ? atLeast({ kind: 'member-number', ...at, op, value })
      : UNKNOWN;
  }
  if (numbers.some((one) => typeof one === 'bigint')) return UNKNOWN;
  if (texts.some((text) => /^(?:true|false)$/i.test(text) || timeOf(text) !== null)) return UNKNOWN;
  return atLeast({
    kind: 'member-folded',
    ...at,
    texts: texts.map(fold),
    numbers: numbers.filter((one) => typeof one === 'number'),
  });
}
