/** Conditions of COUNTIF and its like, and the wildcards of MATCH. */
import type { RE2JS } from 're2js';
import { compilePattern } from '../../../../src/tables/filter/regex.ts';
import { CellError, type Value } from '../cell-values.ts';
import { compare, leave, leaveTruth, nearlyEqual } from '../operands.ts';

const OPERATOR = /^(<=|>=|<>|<|>|=)?([^]*)$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

type Criterion = (value: Value) => boolean;

export function criterionOf(wanted: Value): Criterion {
  if (wanted instanceof CellError) return (value) => value === wanted;
  if (typeof wanted === 'number') return isNumber(wanted);
  if (typeof wanted === 'boolean') return leaveTruth();
  if (wanted === null) return isNumber(0);
  const [, operator = '', operand = ''] = OPERATOR.exec(wanted)!;
  const isEqual = operator === '' || operator === '=' || operator === '<>';
  const matches = isEqual ? equal(operand, operator) : ordered(operand, operator);
  return operator === '<>' ? (value) => !matches(value) : matches;
}

const isNumber =
  (wanted: number): Criterion =>
  (value) =>
    typeof value === 'boolean'
      ? leaveTruth()
      : typeof value === 'number' && nearlyEqual(value, wanted);

function equal(operand: string, operator: string): Criterion {
  // `=` finds blank cells; an empty condition finds empty texts too.
  if (operand === '') {
    return operator === '' ? (value) => value === null || value === '' : (value) => value === null;
  }
  if (NUMBER.test(operand)) {
    const number = Number(operand);
    const isSame = isNumber(number);
    return (value) => isSame(value) || (typeof value === 'string' && value === operand);
  }
  if (/^(?:true|false)$/i.test(operand)) return leaveTruth();
  if (/^#|\d/.test(operand) && /^[#\d.,:/%$€ -]+$/.test(operand)) {
    return leave('a condition that may be a date');
  }
  const isMatch = textMatch(operand);
  return (value) => typeof value === 'string' && isMatch(value);
}

function ordered(operand: string, operator: string): Criterion {
  if (!NUMBER.test(operand)) return leave('a condition on the order of texts');
  const number = Number(operand);
  return (value) => {
    if (typeof value === 'boolean') return leaveTruth();
    if (typeof value !== 'number') return false;
    const order = compare(value, number, true);
    if (operator === '<') return order < 0;
    if (operator === '<=') return order <= 0;
    return operator === '>' ? order > 0 : order >= 0;
  };
}

/** `*`, `?`, and `~` before what is meant literally; in any case, in linear time. */
export function wildcard(pattern: string, isAnywhere = false): RE2JS {
  let source = '';
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === '~' && /[*?~]/.test(pattern[at + 1] ?? '')) source += `\\${pattern[++at]}`;
    else if (character === '*') source += '.*?';
    else if (character === '?') source += '.';
    else source += character.replace(/[\\^$.|+()[\]{}-]/, '\\$&');
  }
  const whole = isAnywhere ? source : `^(?:${source})$`;
  return compilePattern(`(?is)${whole}`) ?? leave('a long pattern');
}

/** A text that equals the pattern as a whole. */
function textMatch(pattern: string): (text: string) => boolean {
  if (/[*?~]/.test(pattern)) {
    const compiled = wildcard(pattern);
    return (text) => compiled.test(text);
  }
  const wanted = pattern.toLowerCase();
  return (text) => text.length === pattern.length && text.toLowerCase() === wanted;
}
