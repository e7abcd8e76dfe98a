/**
 * Types of leaves (parquet-format, LogicalTypes.md): the annotation if it fits the physical type,
 * else the physical type.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileType, TimeUnit } from '../../src/tables/infer/file-type.ts';
import { Converted, Logical, Physical, SchemaField } from '../../src/tables/parquet/format.ts';
import type { ThriftStruct } from '../../src/tables/parquet/thrift.ts';
import { damaged } from './raw-values.ts';

const MAX_DECIMAL_DIGITS = 200;

/** Throws `unreadable-file` for invalid types. */
export function leafType(element: ThriftStruct, physical: number, typeLength: number): FileType {
  return (
    logicalType(element, physical, typeLength) ??
    convertedType(element, physical) ??
    physicalType(physical)
  );
}

/** Newer files; null without an annotation that fits the physical type. */
function logicalType(element: ThriftStruct, physical: number, typeLength: number): FileType | null {
  const union = element.struct(SchemaField.logical);
  const member = union?.fields()[0];
  const parameters = union?.struct(member?.id ?? 0);
  if (!member || !parameters) return null;
  const isInteger = physical === Physical.int32 || physical === Physical.int64;
  switch (member.id) {
    case Logical.string:
    case Logical.enum:
    case Logical.json:
      return physical === Physical.bytes ? { kind: 'text' } : null;
    case Logical.uuid:
      return physical === Physical.fixed && typeLength === 16 ? { kind: 'uuid' } : null;
    case Logical.float16:
      return physical === Physical.fixed && typeLength === 2 ? { kind: 'float', bits: 16 } : null;
    case Logical.date:
      return physical === Physical.int32 ? { kind: 'date' } : null;
    case Logical.decimal:
      return decimal(physical, parameters.int(2), parameters.int(1));
    case Logical.integer:
      return isInteger ? integer(parameters.int(1), parameters.boolean(2), physical) : null;
    case Logical.time:
      return isInteger ? { kind: 'time', unit: unitOf(parameters.struct(2)) } : null;
    case Logical.timestamp: {
      const isUtc = parameters.boolean(1) ?? false;
      const unit = unitOf(parameters.struct(2));
      return physical === Physical.int64 ? { kind: 'timestamp', unit, isUtc } : null;
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

function integer(bits: number | null, isSigned: boolean | null, physical: number): FileType | null {
  const most = physical === Physical.int32 ? 32 : 64;
  if ((bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) || bits > most) return null;
  return { kind: 'integer', bits, isSigned: isSigned ?? true };
}

function decimal(
  physical: number,
  precision: number | null,
  scale: number | null,
): FileType | null {
  if (physical === Physical.boolean || physical === Physical.int96) return null;
  if (physical === Physical.float || physical === Physical.double) return null;
  const digits = precision ?? 0;
  const places = scale ?? 0;
  if (digits < 1 || digits > MAX_DECIMAL_DIGITS || places < 0 || places > digits) {
    throw new AppError('unreadable-file', `unsupported type DECIMAL(${digits}, ${places})`);
  }
  return { kind: 'decimal', precision: digits, scale: places };
}

/** Older files, where moments are in UTC. */
function convertedType(element: ThriftStruct, physical: number): FileType | null {
  const is32 = physical === Physical.int32;
  const is64 = physical === Physical.int64;
  const converted = element.int(SchemaField.converted);
  switch (converted) {
    case Converted.utf8:
    case Converted.enum:
    case Converted.json:
      return physical === Physical.bytes ? { kind: 'text' } : null;
    case Converted.decimal:
      return decimal(physical, element.int(SchemaField.precision), element.int(SchemaField.scale));
    case Converted.date:
      return is32 ? { kind: 'date' } : null;
    case Converted.timeMillis:
      return is32 ? { kind: 'time', unit: 'ms' } : null;
    case Converted.timeMicros:
      return is64 ? { kind: 'time', unit: 'us' } : null;
    case Converted.timestampMillis:
      return is64 ? { kind: 'timestamp', unit: 'ms', isUtc: true } : null;
    case Converted.timestampMicros:
      return is64 ? { kind: 'timestamp', unit: 'us', isUtc: true } : null;
    default:
      if (converted === null || converted < Converted.uint8 || converted > Converted.int64)
        return null;
      if (!is32 && !is64) return null;
      return integer(
        8 << ((converted - Converted.uint8) % 4),
        converted >= Converted.int8,
        physical,
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
