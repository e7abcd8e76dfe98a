/** The contract of a command: syntax, help and reference all come from its one file in commands/. */
import type { Form, Query, Stage, Word } from './syntax/ast.ts';
import type { ExpressionContext } from './expressions/evaluate.ts';
import type { Flag } from './syntax/flag-arguments.ts';
import { FlagValues } from './syntax/flag-values.ts';
import type { Compiled } from './run/operator.ts';
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
  readonly savedSearch: (name: Word, parameters: Parameters) => NestedQuery;
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
  readonly read: (maxRows: number) => { readonly schema: Schema; readonly rows: Row[] };
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
  readonly notice: (text: string) => void;
}

export interface PrintContext {
  readonly printNested: (query: Query) => string;
}

interface CommandText {
  readonly name: string;
  readonly summary: string;
  /** In each of its forms. */
  readonly syntax: Partial<Record<Form, string>>;
  readonly flags?: readonly Flag[];
  /** Name of the one positional word of the flag form. */
  readonly word?: string;
  readonly isRowWise?: boolean;
  readonly isSource?: boolean;
  readonly examples: readonly string[];
}

type Bind<Given, Input> = (
  given: Given,
  input: Input,
  context: StageContext,
  word: Place,
) => BoundStage;

/** Sources have `Schema | null` as input, which is null for a first stage. */
interface CommandOptions<Args, Input> extends CommandText {
  readonly parse?: (reader: TerseReader, context: ParseContext) => Args;
  readonly print?: (args: Args, context: PrintContext) => string;
  readonly bindFlags?: Bind<FlagValues, Input>;
  readonly bind?: Bind<Args, Input>;
}

export interface Command extends Required<Omit<CommandText, 'word'>> {
  readonly word: string | null;
  readonly forms: readonly Form[];
  readonly parse?: (reader: TerseReader, context: ParseContext) => unknown;
  readonly print: (args: unknown, context: PrintContext) => string;
  bindStage(stage: Stage, input: Schema | null, context: StageContext): BoundStage;
}

export function defineCommand<Args = never, Input = Schema>(
  options: CommandOptions<Args, Input>,
): Command {
  const { bindFlags, bind, print, ...rest } = options;
  return {
    flags: [],
    word: null,
    isRowWise: false,
    isSource: false,
    ...rest,
    forms: Object.keys(options.syntax) as Form[],
    // `args` came from `parse` of the same command.
    print: (args, context) => print!(args as Args, context),
    bindStage(stage, given, context) {
      const { command, arguments: args, word } = stage;
      // Checked by the caller for commands that are no sources.
      const input = given as Input;
      if (args.form === 'terse') return bind!(args.args as Args, input, context, word);
      return bindFlags!(new FlagValues(command, args, context.parameters), input, context, word);
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
