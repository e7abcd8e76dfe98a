/**
 * Both surface forms are parsed into this. Texts may hold placeholders as marks (placeholder.ts), filled in when a
 * query is bound to its sources.
 */
import type { Place, Problem } from './problem.ts';
import type { Value } from '../expressions/value.ts';

export type Form = 'flag' | 'terse';

export interface Word {
  readonly text: string;
  readonly place: Place;
}

export type Expression =
  | { readonly kind: 'value'; readonly value: Value }
  /** May hold placeholders; a lone one keeps the type of its value. */
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

export interface NamedArgument {
  readonly name: string;
  readonly value: Expression;
}

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
      readonly isList: boolean;
    };

export interface TermValue extends Word {
  /** Quoted values have no wildcards. */
  readonly isQuoted: boolean;
}

export interface AggregateCall {
  readonly name: Word;
  readonly argument:
    | { readonly kind: 'none' }
    | { readonly kind: 'field'; readonly field: Word }
    | {
        readonly kind: 'expression';
        readonly expression: Expression;
        /** As it names the column. */
        readonly source: string;
        /** Written in `eval(…)`. */
        readonly isEval: boolean;
      };
  readonly alias: string | null;
  readonly hasParentheses: boolean;
}

export interface FlagArguments {
  readonly form: 'flag';
  readonly flags: Readonly<Record<string, readonly Word[]>>;
  readonly words: readonly Word[];
}

interface TerseArguments {
  readonly form: 'terse';
  readonly args: unknown;
}

export interface Stage {
  readonly command: string;
  readonly isNamed: boolean;
  readonly arguments: FlagArguments | TerseArguments;
  readonly word: Place;
  readonly place: Place;
}

export interface Query {
  readonly stages: readonly Stage[];
  /** Why the stage after the last one could not be read; errors of earlier stages take precedence. */
  readonly problem: Problem | null;
  readonly notices: readonly string[];
}
