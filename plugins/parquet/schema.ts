/**
 * Columns, types and nesting (parquet-format, LogicalTypes.md). The type of a leaf is its annotation if that fits the
 * physical type.
 */
import { unreadable } from '../../src/base/errors.ts';
import type { FileType, Nesting, TimeUnit } from '../../src/tables/infer/file-type.ts';
import { MAX_COLUMNS } from '../../src/tables/limits.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import {
  Converted,
  Logical,
  Physical,
  Repetition,
  SchemaField,
} from '../../src/tables/parquet/format.ts';
import type { ThriftStruct } from '../../src/tables/parquet/thrift.ts';

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
  /** The path in messages. */
  readonly name: string;
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
const MAX_DECIMAL_DIGITS = 200;

/** Throws `unreadable-file` when the elements form no tree or exceed the limits. */
export function schemaOf(elements: readonly ThriftStruct[]): Schema {
  const leaves: Leaf[] = [];
  let next = 1;
  const childrenOf = (
    parent: ThriftStruct,
    path: readonly string[],
    definition: number,
    repetition: number,
  ): SchemaNode[] => {
    const count = parent.int(SchemaField.children) ?? 0;
    if (count < 0 || count > elements.length - next) throw damaged('a schema without end');
    return Array.from({ length: count }, () => nodeOf(path, definition, repetition));
  };
  const nodeOf = (path: readonly string[], definition: number, repetition: number): SchemaNode => {
    if (path.length >= MAX_DEPTH) throw damaged('nested too deep');
    const element = elements[next++];
    if (!element) throw damaged('a schema without end');
    const name = element.text(SchemaField.name) ?? '';
    const own = element.int(SchemaField.repetition) ?? Repetition.required;
    const maxDefinition = definition + (own === Repetition.required ? 0 : 1);
    const maxRepetition = repetition + (own === Repetition.repeated ? 1 : 0);
    const firstLeaf = leaves.length;
    const below = [...path, name];
    const isLeaf = element.int(SchemaField.type) !== null;
    const leaf = isLeaf ? leafOf(element, below, maxDefinition, maxRepetition) : null;
    if (leaf && leaves.push(leaf) > MAX_LEAVES) {
      throw unreadable(`more than ${MAX_LEAVES} nested columns`);
    }
    const children = leaf ? [] : childrenOf(element, below, maxDefinition, maxRepetition);
    const leafCount = leaves.length - firstLeaf;
    if (leafCount === 0) {
      throw unreadable(`column '${below.join('.')}' is a group without fields`);
    }
    const node = { name, repetition: own, children, maxDefinition, maxRepetition };
    return { ...node, firstLeaf, leafCount, annotation: annotationOf(element, children), leaf };
  };
  const root = elements[0];
  if (!root) throw damaged('no schema');
  const fields = childrenOf(root, [], 0, 0);
  if (next !== elements.length) throw damaged('schema elements outside the tree');
  if (fields.length > MAX_COLUMNS) throw unreadable(`more than ${MAX_COLUMNS} columns`);
  return { fields, leaves };
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
  const name = path.join('.');
  return { path, name, physical, typeLength, type, isInterval, maxDefinition, maxRepetition };
}

/** A column with repetition or children is nested. */
export function columnType(node: SchemaNode): FileType {
  const { leaf, repetition } = node;
  if (leaf && repetition !== Repetition.repeated) return leaf.type;
  const nesting = nestingOf(node);
  return nesting === null ? { kind: 'nested' } : { kind: 'nested', nesting };
}

/** Null where some value below it has no type that can be written again. */
function nestingOf(node: SchemaNode): Nesting | null {
  const [child] = node.children;
  if (node.repetition === Repetition.repeated) return listOf(ownType(node));
  if (node.annotation === 'list')
    return listOf(isItem(child!) ? ownType(child!) : itemType(child!));
  if (node.annotation === 'map') {
    const [key, value] = child!.children.map(memberType);
    return key && value && key.kind !== 'nested' ? { key, value } : null;
  }
  return structOf(node.children);
}

function listOf(items: FileType | null): Nesting | null {
  return items && { items };
}

function structOf(children: readonly SchemaNode[]): Nesting | null {
  const members = children.map((child) => ({ name: child.name, type: memberType(child) }));
  const isNamed = new Set(members.map(({ name }) => name)).size === members.length;
  const isWhole = members.every(
    (one): one is { name: string; type: FileType } => one.type !== null,
  );
  return isNamed && isWhole ? { members } : null;
}

function itemType(list: SchemaNode): FileType | null {
  return memberType(list.children[0]!);
}

function memberType(node: SchemaNode): FileType | null {
  const type = columnType(node);
  return type.kind === 'opaque' || (type.kind === 'nested' && !type.nesting) ? null : type;
}

/** Of one occurrence of a repeated node. */
function ownType(node: SchemaNode): FileType | null {
  return memberType({ ...node, repetition: Repetition.required });
}

/** In an old list a group of such a name is itself the item. */
const ITEM_GROUP = /^array$|_tuple$/;

/** In files from before the three-level rule. */
export function isItem(repeated: SchemaNode): boolean {
  const [child] = repeated.children;
  if (repeated.children.length !== 1 || !child) return true;
  return child.repetition === Repetition.repeated || ITEM_GROUP.test(repeated.name);
}

/** Throws `unreadable-file` for invalid types. */
function leafType(element: ThriftStruct, physical: number, typeLength: number): FileType {
  for (const type of [logicalType(element), convertedType(element, physical)]) {
    if (type && isFit(type, physical, typeLength)) return type;
  }
  return physicalType(physical);
}

/** Newer files; null without an annotation. */
function logicalType(element: ThriftStruct): FileType | null {
  const union = element.struct(SchemaField.logical);
  const id = union?.fields()[0]?.id ?? 0;
  const details = union?.struct(id);
  if (!details) return null;
  switch (id) {
    case Logical.string:
    case Logical.enum:
    case Logical.json:
      return { kind: 'text' };
    case Logical.uuid:
      return { kind: 'uuid' };
    case Logical.float16:
      return { kind: 'float', bits: 16 };
    case Logical.date:
      return { kind: 'date' };
    case Logical.decimal:
      return { kind: 'decimal', precision: details.int(2) ?? 0, scale: details.int(1) ?? 0 };
    case Logical.integer: {
      const bits = details.int(1);
      const isKnown = bits === 8 || bits === 16 || bits === 32 || bits === 64;
      return isKnown ? { kind: 'integer', bits, isSigned: details.boolean(2) ?? true } : null;
    }
    case Logical.time:
      return { kind: 'time', unit: unitOf(details.struct(2)), isUtc: details.boolean(1) ?? false };
    case Logical.timestamp: {
      const isUtc = details.boolean(1) ?? false;
      return { kind: 'timestamp', unit: unitOf(details.struct(2)), isUtc };
    }
    default:
      return null;
  }
}

function unitOf(union: ThriftStruct | null): TimeUnit {
  if (union?.struct(1)) return 'ms';
  if (union?.struct(2)) return 'us';
  if (union?.struct(3)) return 'ns';
  throw damaged('an unknown unit of time');
}

/** Older files, where moments are in UTC. */
function convertedType(element: ThriftStruct, physical: number): FileType | null {
  const converted = element.int(SchemaField.converted);
  switch (converted) {
    case Converted.utf8:
    case Converted.enum:
    case Converted.json:
      return { kind: 'text' };
    case Converted.decimal: {
      const precision = element.int(SchemaField.precision) ?? 0;
      return { kind: 'decimal', precision, scale: element.int(SchemaField.scale) ?? 0 };
    }
    case Converted.date:
      return { kind: 'date' };
    case Converted.timeMillis:
      return physical === Physical.int32 ? { kind: 'time', unit: 'ms', isUtc: true } : null;
    case Converted.timeMicros:
      return physical === Physical.int64 ? { kind: 'time', unit: 'us', isUtc: true } : null;
    case Converted.timestampMillis:
      return { kind: 'timestamp', unit: 'ms', isUtc: true };
    case Converted.timestampMicros:
      return { kind: 'timestamp', unit: 'us', isUtc: true };
    default: {
      const place = (converted ?? -1) - Converted.uint8;
      if (!(place >= 0 && place < 8)) return null;
      const bits = ([8, 16, 32, 64] as const)[place % 4]!;
      return { kind: 'integer', bits, isSigned: place >= 4 };
    }
  }
}

/** Whether values of the physical type can be of this type. */
function isFit(type: FileType, physical: number, typeLength: number): boolean {
  switch (type.kind) {
    case 'text':
      return physical === Physical.bytes;
    case 'uuid':
      return physical === Physical.fixed && typeLength === 16;
    case 'float':
      return physical === Physical.fixed && typeLength === 2;
    case 'date':
      return physical === Physical.int32;
    case 'timestamp':
      return physical === Physical.int64;
    case 'decimal': {
      const { boolean, int96, float, double } = Physical;
      if ([boolean, int96, float, double].some((other) => other === physical)) return false;
      const { precision, scale } = type;
      if (precision >= 1 && precision <= MAX_DECIMAL_DIGITS && scale >= 0 && scale <= precision) {
        return true;
      }
      throw unreadable(`unsupported type DECIMAL(${precision}, ${scale})`);
    }
    default:
      return (
        physical === Physical.int64 ||
        (physical === Physical.int32 && !(type.kind === 'integer' && type.bits === 64))
      );
  }
}

function physicalType(physical: number): FileType {
  switch (physical) {
    case Physical.boolean:
      return { kind: 'boolean' };
    case Physical.int32:
    case Physical.int64:
      return { kind: 'integer', bits: physical === Physical.int32 ? 32 : 64, isSigned: true };
    case Physical.int96:
      return { kind: 'timestamp', unit: 'ns', isUtc: false };
    case Physical.float:
    case Physical.double:
      return { kind: 'float', bits: physical === Physical.float ? 32 : 64 };
    default:
      return { kind: 'opaque' };
  }
}
