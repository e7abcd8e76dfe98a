/**
 * What can be told of a query without reading anything (EV-102).
 */
import { parseQuery } from './parse.ts';
import { builtInParameters, placeholdersIn } from './placeholder.ts';
import { printQuery } from './print.ts';
import { Problem, type ToldProblem } from './problem.ts';
import { createContext, type QueryEnvironment } from './query-context.ts';
import { checkQuery } from './run.ts';
import { textsOf } from './mentions.ts';

/** The answer of the validate route. */
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

/** Checks a query. Placeholders nobody gave a value are no error: they stand for an unknown text. */
export function validateText(
  text: string,
  environment: Omit<QueryEnvironment, 'watch'>,
): Validation {
  const query = parseQuery(text, environment);
  const builtIn = builtInParameters(environment.now);
  const names = [...new Set(textsOf(query).flatMap(placeholdersIn))].filter(
    (name) => !builtIn.has(name),
  );
  const unset = names.filter((name) => !Object.hasOwn(environment.parameters, name));
  const meter = { tick: () => {}, hold: () => {} };
  const { context, notices } = createContext({
    ...environment,
    watch: { meter, onRead: () => {} },
  });
  let problem: Problem | null = null;
  let columns: readonly string[] | null = null;
  try {
    if (unset.length > 0) {
      // What depends on a value nobody gave cannot be checked.
      if (query.problem) throw query.problem;
    } else {
      const schema = checkQuery(query, context);
      columns = schema.isOpen ? null : schema.shown.map(({ column }) => column.name);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem = error;
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
