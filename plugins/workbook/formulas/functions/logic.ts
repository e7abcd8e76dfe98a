import type { Call, Functions } from '../call.ts';
import { CellError, errorOf, type Value } from '../cell-values.ts';
import { CellRange, compare, fail, leave, Matrix, type Operand, toBoolean } from '../operands.ts';

/** AND, OR and XOR: in ranges texts do not count. */
function* conditions(call: Call): Generator<boolean> {
  let isAny = false;
  for (let index = 0; index < call.count; index++) {
    const operand = call.operand(index);
    if (operand instanceof CellRange || operand instanceof Matrix) {
      for (const { value } of operand.filled()) {
        if (typeof value === 'string') continue;
        isAny = true;
        yield toBoolean(value);
      }
    } else if (call.has(index)) {
      isAny = true;
      yield toBoolean(operand);
    }
  }
  if (!isAny) fail('#VALUE!');
}

function branch(call: Call, index: number, otherwise: Value): Operand {
  return index < call.count ? (call.operand(index) ?? 0) : otherwise;
}

const is =
  (test: (value: Value) => boolean) =>
  (call: Call): boolean => {
    call.require(1);
    return test(call.caught(0));
  };

const isError = (value: Value): boolean => value instanceof CellError;
const isNotAvailable = (value: Value): boolean => value === errorOf('#N/A');

export const logic: Functions = {
  TRUE: () => true,
  FALSE: () => false,
  IF: (call) => {
    call.require(2, 3);
    return call.boolean(0) ? branch(call, 1, 0) : branch(call, 2, false);
  },
  IFERROR: (call) => {
    call.require(2);
    const value = call.caught(0);
    return isError(value) ? branch(call, 1, 0) : (value ?? 0);
  },
  IFNA: (call) => {
    call.require(2);
    const value = call.caught(0);
    return isNotAvailable(value) ? branch(call, 1, 0) : (value ?? 0);
  },
  IFS: (call) => {
    if (call.count % 2 !== 0) leave('the number of arguments');
    for (let index = 0; index < call.count; index += 2) {
      if (call.boolean(index)) return branch(call, index + 1, 0);
    }
    return fail('#N/A');
  },
  SWITCH: (call) => {
    call.require(3, 253);
    const wanted = call.scalar(0);
    let index = 1;
    for (; index + 1 < call.count; index += 2) {
      if (compare(wanted, call.scalar(index), false) === 0) return branch(call, index + 1, 0);
    }
    return index < call.count ? branch(call, index, 0) : fail('#N/A');
  },
  CHOOSE: (call) => {
    const index = call.integer(0);
    return index >= 1 && index < call.count ? branch(call, index, 0) : fail('#VALUE!');
  },
  AND: (call) => [...conditions(call)].every(Boolean),
  OR: (call) => [...conditions(call)].some(Boolean),
  XOR: (call) => [...conditions(call)].filter(Boolean).length % 2 === 1,
  NOT: (call) => {
    call.require(1);
    return !call.boolean(0);
  },
  ISBLANK: is((value) => value === null),
  ISNUMBER: is((value) => typeof value === 'number'),
  ISTEXT: is((value) => typeof value === 'string'),
  ISNONTEXT: is((value) => typeof value !== 'string'),
  ISLOGICAL: is((value) => typeof value === 'boolean'),
  ISERROR: is(isError),
  ISNA: is(isNotAvailable),
  ISERR: is((value) => isError(value) && !isNotAvailable(value)),
  NA: () => fail('#N/A'),
  N: (call) => {
    const value = call.scalar(0);
    return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : 0;
  },
  T: (call) => {
    const value = call.scalar(0);
    return typeof value === 'string' ? value : '';
  },
};
