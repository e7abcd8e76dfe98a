/** The schema as a tree: columns, types and nesting (parquet-format, LogicalTypes.md). */
import { AppError } from '../../src/base/errors.ts';
import type { FileType } from '../../src/tables/infer/file-type.ts';
import { MAX_COLUMNS } from '../../src/tables/limits.ts';
import {
  Converted,
  Logical,
  Physical,
  Repetition,
  SchemaField,
} from '../../src/tables/parquet/format.ts';
import type { ThriftStruct } from '../../src/tables/parquet/thrift.ts';
import { leafType } from './leaf-type.ts';
import { damaged } from './raw-values.ts';

export interface SchemaNode {
  readonly name: string;
  readonly repetition: number;
  readonly children: readonly SchemaNode[];
  /** Definition level at which the field itself is present. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  /** The `leafCount` leaves below start here, in the order of a row group's chunks. */
  readonly firstLeaf: number;
  readonly leafCount: number;
  readonly annotation: 'list' | 'map' | null;
  /** Null for a group. */
  readonly leaf: Leaf | null;
}

export interface Leaf {
  /** Names from the root down. */
  readonly path: readonly string[];
  readonly physical: number;
  /** Bytes of a fixed-length value. */
  readonly typeLength: number;
  readonly type: FileType;
  /** An interval, which has a text form of its own. */
  readonly isInterval: boolean;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export interface Schema {
  readonly fields: readonly SchemaNode[];
  readonly leaves: readonly Leaf[];
}

/** Levels are kept in bytes; a schema nested deeper is an attack. */
const MAX_DEPTH = 64;
const MAX_LEAVES = 16_384;
const MAX_FIXED_BYTES = 1024 * 1024;

/** Throws `unreadable-file` when the elements form no tree or exceed the limits. */
export function schemaOf(elements: readonly ThriftStruct[]): Schema {
  const builder = new SchemaBuilder(elements);
  const fields = builder.run();
  if (fields.length > MAX_COLUMNS) {
    throw new AppError('unreadable-file', `more than ${MAX_COLUMNS} columns`);
  }
  return { fields, leaves: builder.leaves };
}

class SchemaBuilder {
  readonly leaves: Leaf[] = [];
  readonly #elements: readonly ThriftStruct[];
  #next = 1;

  constructor(elements: readonly ThriftStruct[]) {
    this.#elements = elements;
  }

  run(): SchemaNode[] {
    const root = this.#elements[0];
    if (!root) throw damaged('no schema');
    const fields = this.#children(root, [], 0, 0);
    if (this.#next !== this.#elements.length) throw damaged('schema elements outside the tree');
    return fields;
  }

  #children(
    parent: ThriftStruct,
    path: readonly string[],
    definition: number,
    repetition: number,
  ): SchemaNode[] {
    const count = parent.int(SchemaField.children) ?? 0;
    if (count < 0 || count > this.#elements.length - this.#next)
      throw damaged('a schema without end');
    return Array.from({ length: count }, () => this.#node(path, definition, repetition));
  }

  #node(path: readonly string[], definition: number, repetition: number): SchemaNode {
    if (path.length >= MAX_DEPTH) throw damaged('nested too deep');
    const element = this.#elements[this.#next++];
    if (!element) throw damaged('a schema without end');
    const name = element.text(SchemaField.name) ?? '';
    const own = element.int(SchemaField.repetition) ?? Repetition.required;
    const maxDefinition = definition + (own === Repetition.required ? 0 : 1);
    const maxRepetition = repetition + (own === Repetition.repeated ? 1 : 0);
    const firstLeaf = this.leaves.length;
    const below = [...path, name];
    const isLeaf = element.int(SchemaField.type) !== null;
    const leaf = isLeaf ? leafOf(element, below, maxDefinition, maxRepetition) : null;
    if (leaf && this.leaves.push(leaf) > MAX_LEAVES) {
      throw new AppError('unreadable-file', `more than ${MAX_LEAVES} nested columns`);
    }
    const children = leaf ? [] : this.#children(element, below, maxDefinition, maxRepetition);
    const leafCount = this.leaves.length - firstLeaf;
    if (leafCount === 0) {
      throw new AppError(
        'unreadable-file',
        `column '${below.join('.')}' is a group without fields`,
      );
    }
    const node = { name, repetition: own, children, maxDefinition, maxRepetition };
    return { ...node, firstLeaf, leafCount, annotation: annotationOf(element, children), leaf };
  }
}

function annotationOf(
  element: ThriftStruct,
  children: readonly SchemaNode[],
): 'list' | 'map' | null {
  const [child] = children;
  if (children.length !== 1 || child?.repetition !== Repetition.repeated) return null;
  const logical = element.struct(SchemaField.logical);
  const converted = element.int(SchemaField.converted);
  if (logical?.struct(Logical.list) || converted === Converted.list) return 'list';
  const isMap =
    logical?.struct(Logical.map) ||
    converted === Converted.map ||
    converted === Converted.mapKeyValue;
  return isMap && (child.children.length === 1 || child.children.length === 2) ? 'map' : null;
}

function leafOf(
  element: ThriftStruct,
  path: readonly string[],
  maxDefinition: number,
  maxRepetition: number,
): Leaf {
  const physical = element.int(SchemaField.type)!;
  const typeLength = element.int(SchemaField.typeLength) ?? 0;
  if (physical < Physical.boolean || physical > Physical.fixed) {
    throw damaged(`unknown physical type ${physical}`);
  }
  if (physical === Physical.fixed && (typeLength < 1 || typeLength > MAX_FIXED_BYTES)) {
    throw damaged(`values of ${typeLength} bytes`);
  }
  const type = leafType(element, physical, typeLength);
  const isInterval = element.int(SchemaField.converted) === Converted.interval && typeLength === 12;
  return { path, physical, typeLength, type, isInterval, maxDefinition, maxRepetition };
}

/** A column with repetition or children is nested. */
export function columnType({ leaf, repetition }: SchemaNode): FileType {
  return leaf && repetition !== Repetition.repeated ? leaf.type : { kind: 'nested' };
}
