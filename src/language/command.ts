/** The contract of a command: syntax, help and reference all come from its one file in commands/. */
import type { FlagArguments, Form, Query, Stage } from './syntax/ast.ts';
import type { ExpressionContext } from './expressions/evaluate.ts';
import type { Flag } from './syntax/flag-arguments.ts';
import { FlagValues } from './syntax/flag-values.ts';
import type { Compiled, Meter } from './run/operator.ts';
import type { Parameters } from './syntax/placeholder.ts';
import type { Place } from './syntax/problem.ts';
import type { Schema } from './run/schema.ts';
import type { TerseReader } from './syntax/terse-reader.ts';
import type { Row, Value } from './expressions/value.ts';
import type { Source } from './sources/source.ts';

export interface StageContext {
  readonly parameters: Parameters;
  readonly now: string;
  /** Each text once. */
  readonly notice: (text: string) => void;
  /** With the caller's rights. Throws `unknown_source`, `no_permission`. */
  readonly source: (name: SourceName, place: Place) => Source;
  readonly savedSearch: (
    name: string,
    place: Place,
    parameters: Parameters,
  ) => { readonly query: Query; readonly context: StageContext };
  /** The members a text holds, parsed as on ingest; null for none. */
  readonly extract: (style: 'kv' | 'json', text: string) => Readonly<Record<string, Value>> | null;
  readonly prepare: (query: Query) => LazyTable;
  readonly prepareSource: (source: Source, then?: Compiled) => LazyTable;
  readonly joinMaxRows: number;
  /** Null for all indexes. */
  readonly readableIndexes: () => readonly string[] | null;
  /** `timechart` fills empty buckets from it. */
  readonly range: { earliest: string | null; latest: string | null };
}

export type SourceName =
  | { readonly kind: 'events' }
  | { readonly kind: 'audit' }
  | { readonly kind: 'dataset'; readonly name: string };

export interface LazyTable {
  readonly schema: Schema;
  readonly read: (
    meter: Meter,
    maxRows: number,
  ) => { readonly schema: Schema; readonly rows: Row[] };
}

interface StagePlace {
  readonly command: string;
  readonly word: Place;
}

interface SourceRead {
  readonly kind: 'source';
  readonly source: Source;
  readonly order: 'forward' | 'newest';
  readonly then: Compiled;
}

export interface NestedQuery {
  readonly kind: 'nested';
  readonly name: string;
  /** Errors inside the saved search are reported here. */
  readonly place: Place;
  readonly query: Query;
  readonly context: StageContext;
}

export type BoundStage = Compiled | SourceRead | NestedQuery;

export interface ParseContext {
  readonly parseNested: (from: number, to: number) => Query;
}

interface CommandOptions<Args> {
  readonly name: string;
  readonly forms: readonly Form[];
  readonly summary: string;
  readonly syntax: Partial<Record<Form, string>>;
  readonly flags?: readonly Flag[];
  /** Name of the one positional word of the flag form. */
  readonly word?: string;
  readonly isRowWise: boolean;
  readonly examples: readonly string[];
  readonly isSource?: boolean;
  readonly parse?: (reader: TerseReader, context: ParseContext) => Args;
  readonly print?: (args: Args) => string;
  /** `input` is null for a first stage. */
  readonly bindFlags?: (
    flags: FlagValues,
    input: Schema | null,
    context: StageContext,
    place: StagePlace,
  ) => BoundStage;
  readonly bind?: (
    args: Args,
    input: Schema | null,
    context: StageContext,
    place: StagePlace,
  ) => BoundStage;
}

export interface Command extends Omit<CommandOptions<unknown>, 'bindFlags' | 'bind'> {
  readonly flags: readonly Flag[];
  readonly isSource: boolean;
  bindStage(stage: Stage, input: Schema | null, context: StageContext): BoundStage;
}

export function defineCommand<Args = never>(options: CommandOptions<Args>): Command {
  const { bindFlags, bind, parse, print, ...rest } = options;
  return {
    ...rest,
    flags: options.flags ?? [],
    isSource: options.isSource ?? false,
    ...(parse && { parse }),
    // `args` came from `parse` of the same command.
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

export function expressionContext(
  schema: Schema,
  form: Form,
  context: StageContext,
): ExpressionContext {
  return { schema, form, parameters: context.parameters, now: context.now };
}
