import type { Word } from './ast.ts';
import { fillValue, unmarkPlaceholders, type Parameters } from './placeholder.ts';
import { Problem } from './problem.ts';
import type { TerseReader } from './terse-reader.ts';

export interface Count {
  readonly word: Word;
  toString(): string;
}

/** 10 when none is written. */
export function parseCount(reader: TerseReader): Count {
  const word = reader.takeWord() ?? { text: '10', place: reader.placeFrom(reader.at) };
  return { word, toString: () => unmarkPlaceholders(word.text) };
}

export function readCount(what: string, { word }: Count, parameters: Parameters): number {
  const value = String(fillValue(word.text, parameters, word.place) ?? '');
  return requireWhole(what, { ...word, text: value });
}

export function requireWhole(what: string, word: Word, maxDigits = 15): number {
  if (/^\d+$/.test(word.text) && word.text.length <= maxDigits) return Number(word.text);
  const text = `'${what}' expects a whole number, got '${word.text}'`;
  throw new Problem('bad_value', text, { place: word.place });
}

/** Of the option `limit`; 10 when none is written. */
export function limitOf(word: Word | null | undefined): number {
  return word ? requireWhole('limit', word, 9) : 10;
}

export function isNo(word: Word | undefined): boolean {
  return word !== undefined && /^(?:false|f|0)$/i.test(word.text);
}

/** The notice for a stage told to keep 0 rows; elsewhere 0 means all. */
export function keepsNothing(command: string, written: string): string {
  return `'${command}' with ${written} keeps no rows; leave it out to keep all`;
}
