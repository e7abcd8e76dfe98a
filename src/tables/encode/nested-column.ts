/**
 * Lists, structs and maps of a Parquet file, written as such: JSON texts become leaves with levels (the Dremel paper;
 * parquet-format, LogicalTypes.md "Nested Types").
 *
 * Everything is optional here, whatever the file they come from required.
 */
import { type FileType, hasLongIntegers, type Nesting, wideNumber } from '../infer/file-type.ts';
import type { ColumnWriter } from '../parquet/column-writer.ts';
import type { WritableValue } from '../parquet/column-values.ts';
import { Converted, Logical, Repetition, SchemaField } from '../parquet/format.ts';
import { ThriftStruct, ThriftType } from '../parquet/thrift.ts';

const { binary, i32, struct } = ThriftType;
const encoder = new TextEncoder();

export interface LeafColumn {
  readonly writer: ColumnWriter;
  readonly annotate: (element: ThriftStruct) => ThriftStruct;
  /** From a value as JSON has it; numbers of some types come as their digits. */
  readonly convert: (value: unknown) => WritableValue;
}

/** Makes the writer of a leaf with these greatest levels. */
export type LeafMaker = (
  type: FileType,
  levels: { readonly definition: number; readonly repetition: number },
) => LeafColumn;

/** A group or leaf of the schema that may be null. */
interface Node {
  /** Level where it is present. */
  readonly definition: number;
  /** `value` is not null. */
  write(value: unknown, repetition: number): void;
  /** Nothing from this level on. */
  none(definition: number, repetition: number): void;
}

interface Parts {
  readonly elements: ThriftStruct[];
  readonly leaves: { readonly path: readonly string[]; readonly writer: ColumnWriter }[];
  readonly leafOf: LeafMaker;
}

interface Place {
  readonly path: readonly string[];
  /** Keys of maps are, or some readers refuse the file. */
  readonly isRequired?: boolean;
  /** Of its parent. */
  readonly definition: number;
  readonly repetition: number;
}

export class NestedColumn {
  readonly elements: ThriftStruct[] = [];
  readonly leaves: Parts['leaves'] = [];
  readonly #root: Node;
  readonly #parse: (text: string) => unknown;

  constructor(name: string, nesting: Nesting, leafOf: LeafMaker) {
    const place = { path: [name], definition: 0, repetition: 0 };
    this.#root = groupNode(nesting, place, this.#parts(leafOf));
    this.#parse = hasExactNumbers({ kind: 'nested', nesting }) ? exactJson : JSON.parse;
  }

  #parts(leafOf: LeafMaker): Parts {
    return { elements: this.elements, leaves: this.leaves, leafOf };
  }

  add(text: string | null): void {
    writeTo(this.#root, text === null ? null : this.#parse(text), 0);
  }
}

function writeTo(node: Node, value: unknown, repetition: number): void {
  if (value === null || value === undefined) node.none(node.definition - 1, repetition);
  else node.write(value, repetition);
}

function nodeOf(type: FileType, place: Place, parts: Parts): Node {
  if (type.kind === 'nested') return groupNode(type.nesting!, place, parts);
  const { repetition, isRequired = false } = place;
  const definition = place.definition + (isRequired ? 0 : 1);
  const { writer, annotate, convert } = parts.leafOf(type, { definition, repetition });
  const element = elementOf(place.path, isRequired ? Repetition.required : Repetition.optional);
  parts.elements.push(annotate(element.set(SchemaField.type, i32, writer.physical)));
  parts.leaves.push({ path: place.path, writer });
  return {
    definition,
    write: (value, level) => writer.add(convert(value), level),
    none: (at, level) => writer.none(at, level),
  };
}

function elementOf(path: readonly string[], repetition: number): ThriftStruct {
  return new ThriftStruct()
    .set(SchemaField.repetition, i32, repetition)
    .set(SchemaField.name, binary, encoder.encode(path.at(-1)!));
}

function groupNode(nesting: Nesting, place: Place, parts: Parts): Node {
  const element = elementOf(place.path, Repetition.optional);
  parts.elements.push(element);
  if ('members' in nesting) {
    element.set(SchemaField.children, i32, nesting.members.length);
    return structNode(
      nesting.members,
      place.path,
      { ...place, definition: place.definition + 1 },
      parts,
    );
  }
  const isMap = 'value' in nesting;
  annotate(element.set(SchemaField.children, i32, 1), isMap);
  const path = [...place.path, isMap ? 'key_value' : 'list'];
  const members = isMap
    ? [
        { name: 'key', type: nesting.key, isRequired: true },
        { name: 'value', type: nesting.value },
      ]
    : [{ name: 'element', type: nesting.items }];
  parts.elements.push(
    elementOf(path, Repetition.repeated).set(SchemaField.children, i32, members.length),
  );
  const [definition, repetition] = [place.definition + 2, place.repetition + 1];
  const inner = { definition, repetition };
  const item = isMap
    ? structNode(members, path, inner, parts)
    : nodeOf(nesting.items, { ...inner, path: [...path, 'element'] }, parts);
  return {
    definition: definition - 1,
    write: (value, level) => {
      const items: unknown[] = isMap
        ? Object.entries(value as object).map(([key, one]) => ({ key, value: one }))
        : (value as unknown[]);
      if (items.length === 0) item.none(definition - 1, level);
      for (const [index, one] of items.entries())
        writeTo(item, one, index === 0 ? level : repetition);
    },
    none: (at, level) => item.none(at, level),
  };
}

type Member = { readonly name: string; readonly type: FileType };

/** `levels` are those of the group itself. */
function structNode(
  members: readonly (Member & { readonly isRequired?: boolean })[],
  path: readonly string[],
  levels: Omit<Place, 'path'>,
  parts: Parts,
): Node {
  const { definition, repetition } = levels;
  const nodes = members.map(({ name, type, isRequired = false }) => ({
    name,
    node: nodeOf(type, { path: [...path, name], isRequired, definition, repetition }, parts),
  }));
  return {
    definition,
    write: (value, level) => {
      const given = value as Readonly<Record<string, unknown>>;
      for (const { name, node } of nodes) writeTo(node, given[name], level);
    },
    none: (at, level) => {
      for (const { node } of nodes) node.none(at, level);
    },
  };
}

function annotate(element: ThriftStruct, isMap: boolean): void {
  const [logical, converted] = isMap
    ? [Logical.map, Converted.map]
    : [Logical.list, Converted.list];
  const union = new ThriftStruct().set(logical, struct, new ThriftStruct());
  element.set(SchemaField.converted, i32, converted).set(SchemaField.logical, struct, union);
}

/** Of more digits than doubles have. */
function hasExactNumbers(type: FileType): boolean {
  if (type.kind !== 'nested') return hasLongIntegers(type) || wideNumber(type) !== null;
  const { nesting } = type;
  if (nesting === undefined) return false;
  if ('members' in nesting) return nesting.members.some((one) => hasExactNumbers(one.type));
  return 'value' in nesting
    ? hasExactNumbers(nesting.value) || hasExactNumbers(nesting.key)
    : hasExactNumbers(nesting.items);
}

/** Numbers as their digits. */
function exactJson(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? value) : value,
  );
}
