/**
 * The contract of a command: everything the language, its help and the reference know about it stands in one file of
 * commands/.
 */
import type { FlagArguments, Form, Query, Stage } from './ast.ts';
import type { ExpressionContext } from './evaluate.ts';
import type { Flag } from './flag-arguments.ts';
import { FlagValues } from './flag-values.ts';
import type { Compiled, Meter } from './operator.ts';
import type { Parameters } from './placeholder.ts';
import type { Place } from './problem.ts';
import type { Schema } from './schema.ts';
import type { TerseReader } from './terse-reader.ts';
import type { Row, Value } from './value.ts';
import type { Source } from './sources/source.ts';

/** What every stage of a run may ask for. */
export interface StageContext {
  readonly parameters: Parameters;
  readonly now: string;
  /** Said to the caller beside the rows; each once. */
  readonly notice: (text: string) => void;
  /** A source by name, with the caller's rights. Throws `unknown_source`, `no_permission`. */
  readonly source: (name: SourceName, place: Place) => Source;
  /** The stages of a saved search, as the caller may use them, and the context to run them in. */
  readonly savedSearch: (
    name: string,
    place: Place,
    parameters: Parameters,
  ) => { readonly query: Query; readonly context: StageContext };
  /** The members a text holds, read as on arrival (EV-42, EV-43); null for none. */
  readonly extract: (style: 'kv' | 'json', text: string) => Readonly<Record<string, Value>> | null;
  /** Checks a query of its own and says which columns it gives. */
  readonly prepare: (query: Query) => LazyTable;
  /** The same for a source read from first to last, with what is done to its rows. */
  readonly prepareSource: (source: Source, then?: Compiled) => LazyTable;
  readonly joinMaxRows: number;
  /** Indexes of events the caller may read; null for all. */
  readonly readableIndexes: () => readonly string[] | null;
  /** Range of `_time` the first stage asked for, for buckets without rows. */
  readonly range: { earliest: string | null; latest: string | null };
}

/** A source as a query names it. */
export type SourceName =
  | { readonly kind: 'events' }
  | { readonly kind: 'audit' }
  | { readonly kind: 'dataset'; readonly name: string };

/** Rows that are read when they are needed; the schema is what is known before. */
export interface LazyTable {
  readonly schema: Schema;
  /** All rows, and the schema they have. */
  readonly read: (
    meter: Meter,
    maxRows: number,
  ) => { readonly schema: Schema; readonly rows: Row[] };
}

/** Where a stage stands. */
interface StagePlace {
  readonly command: string;
  readonly word: Place;
}

/** What a first stage reads. */
interface SourceRead {
  readonly kind: 'source';
  readonly source: Source;
  readonly order: 'forward' | 'newest';
  /** What the stage does with the rows. */
  readonly then: Compiled;
}

/** A stage that stands for the stages of a saved search. */
export interface NestedQuery {
  readonly kind: 'nested';
  readonly name: string;
  /** Where it is named; its own errors are placed there. */
  readonly place: Place;
  readonly query: Query;
  readonly context: StageContext;
}

/** What a stage becomes for a given input. */
export type BoundStage = Compiled | SourceRead | NestedQuery;

/** How the parts of a terse stage in brackets are read. */
export interface ParseContext {
  readonly parseNested: (from: number, to: number) => Query;
}

/** How a command is defined. */
interface CommandOptions<Args> {
  readonly name: string;
  readonly forms: readonly Form[];
  /** One sentence. */
  readonly summary: string;
  /** Per form. */
  readonly syntax: Partial<Record<Form, string>>;
  readonly flags?: readonly Flag[];
  /** Name of the one word of the flag form that belongs to no flag. */
  readonly word?: string;
  readonly isRowWise: boolean;
  /** Queries that run on the fixture of the contract. */
  readonly examples: readonly string[];
  /** Can stand first. */
  readonly isSource?: boolean;
  /** Reads the terse form after the command word. */
  readonly parse?: (reader: TerseReader, context: ParseContext) => Args;
  /** The terse form after the command word. */
  readonly print?: (args: Args) => string;
  /** Fits a flag-form stage to its input; `input` is null for a first stage. */
  readonly bindFlags?: (
    flags: FlagValues,
    input: Schema | null,
    context: StageContext,
    place: StagePlace,
  ) => BoundStage;
  /** As bindFlags, for the terse form. */
  readonly bind?: (
    args: Args,
    input: Schema | null,
    context: StageContext,
    place: StagePlace,
  ) => BoundStage;
}

/** A command of the language. */
export interface Command extends Omit<CommandOptions<unknown>, 'bindFlags' | 'bind'> {
  readonly flags: readonly Flag[];
  readonly isSource: boolean;
  /** Fits a stage to its input. */
  bindStage(stage: Stage, input: Schema | null, context: StageContext): BoundStage;
}

/** The command, its arguments' type known only inside. */
export function defineCommand<Args = never>(options: CommandOptions<Args>): Command {
  const { bindFlags, bind, parse, print, ...rest } = options;
  return {
    ...rest,
    flags: options.flags ?? [],
    isSource: options.isSource ?? false,
    ...(parse && { parse }),
    // The arguments of a stage were made by `parse` of the same command.
    ...(print && { print: (args: unknown) => print(args as Args) }),
    bindStage(stage, input, context) {
      const place = { command: stage.command, word: stage.word };
      if (stage.arguments.form === 'terse') {
        return bind!(stage.arguments.args as Args, input, context, place);
      }
      const flags = new FlagValues(
        stage.command,
        stage.arguments satisfies FlagArguments,
        context.parameters,
      );
      return bindFlags!(flags, input, context, place);
    },
  };
}

/** What expressions of a stage are compiled for. */
export function expressionContext(
  schema: Schema,
  form: Form,
  context: StageContext,
): ExpressionContext {
  return { schema, form, parameters: context.parameters, now: context.now };
}
