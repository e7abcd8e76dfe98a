/**
 * A parsed query: stages with their arguments and places. Both surface forms end here (SL-1).
 *
 * Texts may hold placeholders as marks, see placeholder.ts; they are resolved when a query is bound to its sources.
 * Places are no part of a query's meaning: two queries are equal when they differ in places only (SL-8).
 */
import type { Place, Problem } from './problem.ts';
import type { Value } from './value.ts';

/** The surface form a stage was written in; it decides how its names are read (SL-41). */
export type Form = 'flag' | 'terse';

/** A text as written, with its place. */
export interface Word {
  readonly text: string;
  readonly place: Place;
}

/** An expression of either form. */
export type Expression =
  | { readonly kind: 'value'; readonly value: Value }
  /** A text of its own; may hold placeholders, and a lone one keeps the type of its value. */
  | { readonly kind: 'text'; readonly text: string; readonly place: Place }
  | { readonly kind: 'name'; readonly name: string; readonly place: Place }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Expression[];
      readonly named: readonly NamedArgument[];
      readonly place: Place;
    }
  | { readonly kind: 'unary'; readonly op: '-' | '~' | 'NOT'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly op: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'in';
      readonly operand: Expression;
      readonly list: readonly Expression[];
      readonly isNegated: boolean;
    }
  | { readonly kind: 'null-test'; readonly operand: Expression; readonly isNegated: boolean };

/** `name=value` among the arguments of a call. */
export interface NamedArgument {
  readonly name: string;
  readonly value: Expression;
}

/** A search of section 5. */
export type Terms =
  | { readonly kind: 'all'; readonly items: readonly Terms[] }
  | { readonly kind: 'and'; readonly items: readonly Terms[] }
  | { readonly kind: 'or'; readonly items: readonly Terms[] }
  | { readonly kind: 'not'; readonly item: Terms }
  | { readonly kind: 'word'; readonly word: Word; readonly isQuoted: boolean }
  | {
      readonly kind: 'compare';
      readonly field: Word;
      readonly op: '=' | '!=' | '<' | '<=' | '>' | '>=';
      readonly values: readonly TermValue[];
      /** Written with `IN ( )`. */
      readonly isList: boolean;
    };

/** The right side of a comparison of section 5. */
export interface TermValue extends Word {
  /** Quoted values have no wildcards. */
  readonly isQuoted: boolean;
}

/** An aggregate of the terse form. */
export interface AggregateCall {
  /** As written. */
  readonly name: Word;
  readonly argument:
    | { readonly kind: 'none' }
    | { readonly kind: 'field'; readonly field: Word }
    | { readonly kind: 'eval'; readonly expression: Expression; readonly source: string };
  readonly alias: string | null;
  /** Whether parentheses were written. */
  readonly hasParentheses: boolean;
}

/** Options of a flag-form stage: texts as given, in order; absent ones are missing. */
export interface FlagArguments {
  readonly form: 'flag';
  readonly flags: Readonly<Record<string, readonly Word[]>>;
  /** Words that belong to no flag. */
  readonly words: readonly Word[];
}

/** Arguments of a terse-form stage; the command knows what is in them. */
interface TerseArguments {
  readonly form: 'terse';
  readonly args: unknown;
}

/** One command with its arguments. */
export interface Stage {
  readonly command: string;
  /** False for an implicit search. */
  readonly isNamed: boolean;
  readonly arguments: FlagArguments | TerseArguments;
  /** The command word, or the first word of an implicit search. */
  readonly word: Place;
  /** From the word to the end of the stage. */
  readonly place: Place;
}

/** A query, as far as it could be read. */
export interface Query {
  readonly stages: readonly Stage[];
  /** Why the stage after the last one could not be read; errors of earlier stages come first (SL-173). */
  readonly problem: Problem | null;
  readonly notices: readonly string[];
}
