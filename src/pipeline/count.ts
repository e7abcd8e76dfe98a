/**
 * The number of `head` and `tail` in the terse form.
 */
import type { Word } from './ast.ts';
import { fillValue, unmarkPlaceholders, type Parameters } from './placeholder.ts';
import { Problem } from './problem.ts';
import type { TerseReader } from './terse-reader.ts';

/** A number as written; it may be a placeholder. */
export interface Count {
  readonly word: Word;
  toString(): string;
}

/** The word that comes next, 10 when there is none. */
export function parseCount(reader: TerseReader): Count {
  const word = reader.takeWord() ?? { text: '10', place: reader.placeFrom(reader.at) };
  return { word, toString: () => unmarkPlaceholders(word.text) };
}

/** The whole number. Throws `bad_value`. */
export function readCount(what: string, { word }: Count, parameters: Parameters): number {
  const value = String(fillValue(word.text, parameters, word.place) ?? '');
  return requireWhole(what, { ...word, text: value });
}

/** The number a word spells. Throws `bad_value` when it is not whole. */
export function requireWhole(what: string, word: Word): number {
  if (/^\d{1,15}$/.test(word.text)) return Number(word.text);
  throw notWhole(what, word);
}

/** Whether an option that is on is turned off. */
export function isNo(word: Word | undefined): boolean {
  return word !== undefined && /^(?:false|f|0)$/i.test(word.text);
}

/** What is said of a stage that was told to keep nothing; elsewhere 0 means all. */
export function keepsNothing(command: string, written: string): string {
  return `'${command}' with ${written} keeps no rows; leave it out to keep all`;
}

/** The error for a word that is no whole number. */
export function notWhole(what: string, word: Word): Problem {
  const text = `'${what}' expects a whole number, got '${word.text}'`;
  return new Problem('bad_value', text, { place: word.place });
}
