import type { Call, Functions } from '../call.ts';
import { CellError } from '../cell-values.ts';
import { CellRange, fail, fitting, FormulaError, leave, Matrix, toText } from '../operands.ts';
import { MAX_CELL_TEXT } from '../../../../src/tables/encode/sheet-text.ts';
import { wildcard } from './criteria.ts';

/** Of all arguments, those in ranges too. */
function* parts(call: Call, from: number): Generator<string> {
  for (let index = from; index < call.count; index++) {
    const operand = call.operand(index);
    if (!(operand instanceof CellRange || operand instanceof Matrix)) yield toText(operand);
    else {
      if (operand.height * operand.width > MAX_CELL_TEXT) leave('a range with too many cells');
      for (let row = 0; row < operand.height; row++) {
        for (let column = 0; column < operand.width; column++) {
          const value = operand.at(row, column);
          if (value instanceof CellError) throw new FormulaError(value);
          yield toText(value);
        }
      }
    }
  }
}

function joined(texts: Iterable<string>, separator = ''): string {
  return fitting([...texts].join(separator));
}

/** Programs count characters outside the basic plane differently. */
function plain(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? leave('characters of two units') : text;
}

function lengthAt(call: Call, index: number, otherwise: number): number {
  const length = call.integer(index, otherwise);
  return length < 0 ? fail('#VALUE!') : length;
}

function find(call: Call, isPattern: boolean): number {
  call.require(2, 3);
  const [wanted, text] = [plain(call.text(0)), plain(call.text(1))];
  const from = call.integer(2, 1) - 1;
  if (from < 0 || from > text.length) fail('#VALUE!');
  if (wanted === '') leave('an empty text to find');
  let at = text.indexOf(wanted, from);
  if (isPattern) {
    if (/[*?~]/.test(wanted)) {
      const matcher = wildcard(wanted, true).matcher(text.slice(from));
      at = matcher.find() ? from + matcher.start() : -1;
    } else at = text.toLowerCase().indexOf(wanted.toLowerCase(), from);
  }
  return at < 0 ? fail('#VALUE!') : at + 1;
}

export const texts: Functions = {
  CONCATENATE: (call) => {
    let text = '';
    for (let index = 0; index < call.count; index++) text += call.text(index);
    return fitting(text);
  },
  CONCAT: (call) => joined(parts(call, 0)),
  TEXTJOIN: (call) => {
    const [separator, skipsEmpty] = [call.text(0), call.boolean(1)];
    const all = [...parts(call, 2)];
    return joined(skipsEmpty ? all.filter((part) => part !== '') : all, separator);
  },
  LEFT: (call) => plain(call.text(0)).slice(0, lengthAt(call, 1, 1)),
  RIGHT: (call) => {
    const text = plain(call.text(0));
    return text.slice(Math.max(0, text.length - lengthAt(call, 1, 1)));
  },
  MID: (call) => {
    call.require(3);
    const from = call.integer(1) - 1;
    if (from < 0) fail('#VALUE!');
    return plain(call.text(0)).slice(from, from + lengthAt(call, 2, 0));
  },
  LEN: (call) => plain(call.text(0)).length,
  LOWER: (call) => plain(call.text(0)).toLowerCase(),
  UPPER: (call) => {
    const text = plain(call.text(0));
    // Some letters become two, in some programs.
    return text.toUpperCase().length === text.length
      ? text.toUpperCase()
      : leave('capital letters');
  },
  TRIM: (call) =>
    call
      .text(0)
      .replaceAll(/^ +| +$/g, '')
      .replaceAll(/ {2,}/g, ' '),
  EXACT: (call) => call.text(0) === call.text(1),
  REPT: (call) => {
    const [text, times] = [call.text(0), call.integer(1)];
    if (times < 0 || text.length * times > MAX_CELL_TEXT) fail('#VALUE!');
    return text.repeat(times);
  },
  SUBSTITUTE: (call) => {
    call.require(3, 4);
    const [text, old, replacement] = [call.text(0), call.text(1), call.text(2)];
    if (old === '') return text;
    if (!call.has(3)) return fitting(text.replaceAll(old, () => replacement));
    const wanted = call.integer(3);
    if (wanted < 1) fail('#VALUE!');
    let seen = 0;
    return fitting(text.replaceAll(old, (found) => (++seen === wanted ? replacement : found)));
  },
  REPLACE: (call) => {
    call.require(4);
    const text = plain(call.text(0));
    const from = call.integer(1) - 1;
    if (from < 0) fail('#VALUE!');
    const to = from + lengthAt(call, 2, 0);
    return fitting(text.slice(0, from) + call.text(3) + text.slice(to));
  },
  FIND: (call) => find(call, false),
  SEARCH: (call) => find(call, true),
};
