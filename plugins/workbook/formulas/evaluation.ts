/**
 * Calculates formulas (the trees of `@borgar/fx`). Left to other programs: unknown functions, arrays, other
 * workbooks, circles, what depends on the time or the user's language.
 */
import { Call, type Frame } from './call.ts';
import { type CellValues, type Held, isFormula, type Value } from './cell-values.ts';
import {
  areasOfCell,
  type FormulaCell,
  functionName,
  type Template,
  type Tree,
} from './formula-cells.ts';
import { functions } from './functions/index.ts';
import {
  CellRange,
  checked,
  compare,
  fail,
  fitting,
  FormulaError,
  type Grid,
  leave,
  Matrix,
  matrixOf,
  NotCalculated,
  type Operand,
  Steps,
  sum,
  toNumber,
  toText,
} from './operands.ts';
import { areasOf } from './scope.ts';

/** Undefined: left to other programs. */
export type Result = Exclude<Value, null> | undefined;

type Surroundings = Pick<Frame, 'is1904' | 'isSubtotal' | 'hasHiddenRows'>;

export class Evaluation {
  readonly #results = new Map<FormulaCell, Result>();
  readonly #grid: Grid;
  readonly #frame: Surroundings;

  constructor(values: CellValues, frame: Surroundings) {
    this.#frame = frame;
    this.#grid = { values, steps: new Steps(), valueOf: (held) => this.#valueOf(held) };
  }

  /** What a formula depends on is calculated before it, whatever the length of the chain. */
  resultOf(wanted: FormulaCell): Result {
    const stack: { readonly cell: FormulaCell; readonly needs: Iterator<FormulaCell> }[] = [];
    const open = new Set<FormulaCell>();
    const begin = (cell: FormulaCell): void => {
      open.add(cell);
      stack.push({ cell, needs: this.#needsOf(cell) });
    };
    if (!this.#results.has(wanted)) begin(wanted);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { cell, needs } = top;
      const needed = this.#nextOf(needs);
      // A circle; what is in it stays without a result.
      if (needed === 'too much' || (needed !== null && open.has(needed))) {
        this.#results.set(cell, undefined);
      } else if (needed !== null) {
        begin(needed);
        continue;
      }
      stack.pop();
      open.delete(cell);
      if (!this.#results.has(cell)) this.#results.set(cell, this.#calculated(cell));
    }
    return this.#results.get(wanted);
  }

  #nextOf(needs: Iterator<FormulaCell>): FormulaCell | 'too much' | null {
    try {
      const { done, value } = needs.next();
      return done ? null : (value as FormulaCell);
    } catch (error) {
      if (error instanceof NotCalculated) return 'too much';
      throw error;
    }
  }

  *#needsOf(cell: FormulaCell): Generator<FormulaCell> {
    for (const area of areasOfCell(cell)) {
      for (const needed of this.#grid.values.formulasWithin(area)) {
        this.#grid.steps.take();
        if (!this.#results.has(needed)) yield needed;
      }
    }
  }

  #valueOf(held: Held): Value {
    if (!isFormula(held)) return held as Value;
    return this.#results.get(held) ?? leave('it refers to a cell without a result');
  }

  #calculated(cell: FormulaCell): Result {
    const { tree } = cell.template;
    if (cell.filled !== null || tree === null) return undefined;
    try {
      const value = new Calculation(cell, cell.template, this.#grid, this.#frame).scalar(tree);
      return typeof value === 'number' ? checked(value) + 0 : (value ?? 0);
    } catch (error) {
      if (error instanceof FormulaError) return error.error;
      // Nested deeper than the stack.
      if (error instanceof NotCalculated || error instanceof RangeError) return undefined;
      throw error;
    }
  }
}

/** One formula in its cell. */
class Calculation implements Frame {
  constructor(
    readonly cell: FormulaCell,
    readonly template: Template,
    readonly grid: Grid,
    readonly sheets: Surroundings,
  ) {}

  get is1904(): boolean {
    return this.sheets.is1904;
  }

  isSubtotal(sheet: number, row: number, column: number): boolean {
    return this.sheets.isSubtotal(sheet, row, column);
  }

  hasHiddenRows(sheet: number): boolean {
    return this.sheets.hasHiddenRows(sheet);
  }

  scalar(tree: Tree): Value {
    const operand = this.operand(tree);
    if (operand instanceof CellRange) return operand.beside(this.cell);
    if (!(operand instanceof Matrix)) return operand;
    if (operand.height === 1 && operand.width === 1) return operand.at(0, 0);
    return leave('a list of values');
  }

  operand(tree: Tree): Operand {
    this.grid.steps.take();
    switch (tree.type) {
      case 'Literal':
        return (tree as unknown as { value: Value }).value;
      case 'ErrorLiteral':
        return fail((tree as unknown as { value: string }).value);
      case 'ReferenceIdentifier':
        return this.#referenced((tree as unknown as { value: string }).value);
      case 'ArrayExpression':
        return this.#list((tree as unknown as { elements: Tree[][] }).elements);
      case 'UnaryExpression':
      case 'BinaryExpression':
        return this.#operation(
          tree as unknown as Operation,
          (part) => new Matrix([[this.scalar(part)]]),
        ).at(0, 0);
      case 'CallExpression':
        return this.#called(tree as unknown as CallTree);
      default:
        return leave(`an expression of the type ${tree.type}`);
    }
  }

  array(tree: Tree): Matrix {
    if (tree.type === 'UnaryExpression' || tree.type === 'BinaryExpression') {
      return this.#operation(tree as unknown as Operation, (part) => this.array(part));
    }
    if (tree.type === 'CallExpression' && hasRange(tree)) leave('a function of a list');
    return matrixOf(this.operand(tree));
  }

  #referenced(spelling: string): Operand {
    const { template, cell } = this;
    const reference = template.references.get(spelling);
    if (reference === undefined || reference.kind === 'unknown') {
      return leave('a name without a meaning');
    }
    if (reference.kind === 'name') {
      const named = template.named.get(spelling)?.template;
      if (named === undefined || named.tree === null) return leave('a name');
      const at = { ...cell, sheet: reference.sheet };
      return new Calculation(at, named, this.grid, this.sheets).operand(named.tree);
    }
    const { rows, columns } = template === cell.template ? cell : { rows: 0, columns: 0 };
    const areas = areasOf(reference, cell, rows, columns);
    if (areas.length !== 1) return leave('cells of several sheets');
    return new CellRange(areas[0]!, this.grid);
  }

  #list(elements: readonly (readonly Tree[])[]): Matrix {
    const rows = elements.map((row) => row.map((element) => this.scalar(element)));
    return new Matrix(rows);
  }

  #operation({ operator, arguments: parts }: Operation, matrix: (part: Tree) => Matrix): Matrix {
    // The operators of references: ranges, intersections, unions, spilled and implied cells.
    if (/^[:, #@]$/.test(operator)) leave(`the operator ${operator}`);
    const [left, right] = parts.map(matrix);
    if (right === undefined) return mapped(left!, left!, (value) => unary(operator, value));
    return mapped(left!, right, (a, b) => binary(operator, a, b));
  }

  #called({ callee, arguments: trees }: CallTree): Operand {
    const name = callee.type === 'Identifier' ? functionName(callee.name) : '';
    const run = Object.hasOwn(functions, name) ? functions[name]! : leave(`the function ${name}`);
    return run(new Call(this, trees));
  }
}

interface Operation {
  readonly operator: string;
  readonly arguments: readonly Tree[];
}

interface CallTree {
  readonly callee: { readonly type: string; readonly name: string };
  readonly arguments: readonly (Tree | null)[];
}

/** Whether a function would see a list where it is written for one value. */
function hasRange(tree: Tree): boolean {
  const { arguments: parts } = tree as unknown as CallTree;
  return parts.some(
    (part) =>
      part !== null &&
      (part.type === 'ReferenceIdentifier' ||
        part.type === 'ArrayExpression' ||
        ('arguments' in part && hasRange(part))),
  );
}

/** Cell by cell; a single value, row or column goes with all. Errors stay in their cells. */
function mapped(left: Matrix, right: Matrix, operate: (a: Value, b: Value) => Value): Matrix {
  const height = Math.max(left.height, right.height);
  const width = Math.max(left.width, right.width);
  for (const { height: rows, width: columns } of [left, right]) {
    const fits = (rows === 1 || rows === height) && (columns === 1 || columns === width);
    if (!fits) leave('lists of different sizes');
  }
  const at = (matrix: Matrix, row: number, column: number): Value =>
    matrix.at(matrix.height === 1 ? 0 : row, matrix.width === 1 ? 0 : column);
  const rows = Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (__, column) => {
      try {
        return operate(at(left, row, column), at(right, row, column));
      } catch (error) {
        if (error instanceof FormulaError) return error.error;
        throw error;
      }
    }),
  );
  return new Matrix(rows);
}

function unary(operator: string, value: Value): Value {
  if (operator === '-') return -toNumber(value);
  if (operator === '%') return toNumber(value) / 100;
  // Texts stay texts.
  if (operator === '+') return value;
  return leave(`the operator ${operator}`);
}

function binary(operator: string, a: Value, b: Value): Value {
  switch (operator) {
    case '+':
      return checked(sum(toNumber(a), toNumber(b)));
    case '-':
      return checked(sum(toNumber(a), -toNumber(b)));
    case '*':
      return checked(toNumber(a) * toNumber(b));
    case '/':
      return quotient(toNumber(a), toNumber(b));
    case '^':
      return power(toNumber(a), toNumber(b));
    case '&':
      return fitting(toText(a) + toText(b));
    case '=':
      return compare(a, b, false) === 0;
    case '<>':
      return compare(a, b, false) !== 0;
    case '<':
      return compare(a, b, true) < 0;
    case '<=':
      return compare(a, b, true) <= 0;
    case '>':
      return compare(a, b, true) > 0;
    case '>=':
      return compare(a, b, true) >= 0;
    default:
      return leave(`the operator ${operator}`);
  }
}

function quotient(a: number, b: number): number {
  return b === 0 ? fail('#DIV/0!') : checked(a / b);
}

function power(a: number, b: number): number {
  if (a === 0 && b === 0) return leave('0 to the power of 0');
  if (a === 0 && b < 0) return fail('#DIV/0!');
  return checked(a ** b);
}
