import type { Query, Stage } from './ast.ts';
import { parseQuery } from './parse.ts';
import { builtInParameters, isFormatted, placeholdersIn } from './placeholder.ts';
import { Problem, type ToldProblem } from './problem.ts';
import { createContext, type QueryEnvironment } from '../plan/query-context.ts';
import { checkQuery } from '../run/run.ts';
import type { Value } from '../expressions/value.ts';
import { useZone } from '../expressions/zone.ts';
import { findCommand } from '../command-table.ts';
import { printFlagArguments } from './flag-arguments.ts';

export interface Validation {
  readonly valid: boolean;
  readonly errors: readonly ToldProblem[];
  readonly notices: readonly string[];
  readonly stages: readonly {
    readonly stage: number;
    readonly command: string;
    readonly form: string;
    readonly offset: number;
    readonly length: number;
  }[];
  readonly columns: readonly string[] | null;
  readonly parameters: readonly string[];
  readonly canonical: string | null;
}

/** Values that fit where placeholders mostly stand: one without and one with a format. */
const STAND_INS = [
  ['1', '2026-01-01'],
  ['2', '2026-02-02'],
] as const;

/** Unset placeholders are no error: they stand for an unknown text. */
export function validateText(
  text: string,
  environment: Omit<QueryEnvironment, 'watch'>,
): Validation {
  const query = parseQuery(text, environment);
  useZone(environment.timezone);
  const builtIn = builtInParameters(environment.now);
  const texts = textsOf(query);
  const names = [...new Set(texts.flatMap(placeholdersIn))].filter((name) => !builtIn.has(name));
  const unset = names.filter((name) => !Object.hasOwn(environment.parameters, name));
  const notices: string[] = [];
  const columnsWith = (values: readonly Value[], notice: (text: string) => void) => {
    const meter = { tick: () => {}, hold: () => {} };
    const given = Object.fromEntries(
      unset.map((name) => [
        name,
        texts.some((one) => isFormatted(one, name)) ? values[1]! : values[0]!,
      ]),
    );
    const context = createContext({
      ...environment,
      parameters: { ...given, ...environment.parameters },
      watch: { meter, onRead: () => {} },
    });
    const schema = checkQuery(query, context.context);
    context.notices.forEach(notice);
    return schema.isOpen ? null : schema.shown.map(({ column }) => column.name);
  };
  let problem: Problem | null = null;
  let columns: readonly string[] | null = null;
  try {
    columns = columnsWith(STAND_INS[0], (text) => unset.length === 0 && notices.push(text));
    const others = unset.length === 0 ? columns : columnsWith(STAND_INS[1], () => {});
    // The columns depend on an unknown value.
    if (columns?.join('\0') !== others?.join('\0')) columns = null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // What depends on an unknown value cannot be checked.
    problem = unset.length === 0 ? error : query.problem;
    columns = null;
  }
  return {
    valid: problem === null,
    errors: problem ? [problem.told(text)] : [],
    notices: [...query.notices, ...notices],
    stages: query.stages.map(({ command, arguments: args, place }, index) => ({
      stage: index + 1,
      command,
      form: args.form,
      offset: [...text.slice(0, place.at)].length,
      length: [...text.slice(place.at, place.at + place.length).trimEnd()].length,
    })),
    columns,
    parameters: names,
    canonical: query.problem ? null : printQuery(query),
  };
}

function textsOf(query: Query): string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const stage of query.stages) collect(stage.arguments);
  return texts;
}

export function printQuery(query: Query): string {
  return query.stages.map(printStage).join(' | ');
}

function printStage(stage: Stage): string {
  if (stage.arguments.form === 'flag') {
    const args = printFlagArguments(stage.arguments);
    return args === '' ? stage.command : `${stage.command} ${args}`;
  }
  // An implicit search gets its name, because its text alone might begin like a command.
  const args = findCommand(stage.command)!.print(stage.arguments.args, { printNested: printQuery });
  return args === '' ? stage.command : `${stage.command} ${args}`;
}
