import {
  dateText,
  momentText,
  momentTexts,
  timeText,
  UNITS_PER_SECOND,
} from '../../src/tables/values/calendar.ts';
import type { TimeUnit } from '../../src/tables/infer/file-type.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import {
  type CellAt,
  damaged,
  exactNumber,
  int32View,
  int64Views,
  type RawValues,
  rawValue,
} from './raw-values.ts';
import type { Leaf } from './schema.ts';

const JULIAN_EPOCH = 2_440_588;
const SECONDS_PER_DAY = 86_400;

export function dates(values: RawValues): CellAt {
  const view = int32View(values);
  return (index) => dateText(view[index]!);
}

export function times(values: RawValues, { physical }: Leaf, unit: TimeUnit): CellAt {
  const view = physical === Physical.int32 ? int32View(values) : null;
  const { longs } = view ? { longs: null } : int64Views(values);
  const limit = SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
  return (index) => {
    const value = view ? view[index]! : Number(longs![index]!);
    // Some writers use 24:00:00.
    if (!(value >= 0 && value <= limit)) throw damaged('a time past the end of the day');
    return timeText(value, unit);
  };
}

export function moments(values: RawValues, unit: TimeUnit, isUtc: boolean): CellAt {
  const { longs, halves } = int64Views(values);
  const perDay = SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
  const perDayLong = BigInt(perDay);
  const textOf = momentTexts(unit, isUtc);
  return (index) => {
    const value = exactNumber(halves, index);
    if (!Number.isNaN(value)) {
      const days = Math.floor(value / perDay);
      return textOf(days, value - days * perDay);
    }
    const long = longs[index]!;
    const rest = long % perDayLong;
    const time = rest < 0n ? rest + perDayLong : rest;
    return textOf(Number((long - time) / perDayLong), Number(time));
  };
}

/** INT96: nanoseconds of the day, then the Julian day. */
export function legacyMoments(values: RawValues): CellAt {
  return (index) => {
    const bytes = rawValue(values, index);
    const view = new DataView(bytes.buffer, bytes.byteOffset, 12);
    const nanos = view.getBigInt64(0, true);
    const perDay = BigInt(SECONDS_PER_DAY) * 1_000_000_000n;
    const rest = nanos % perDay;
    const time = rest < 0n ? rest + perDay : rest;
    const days = view.getInt32(8, true) - JULIAN_EPOCH + Number((nanos - time) / perDay);
    return momentText(days, Number(time), 'ns', false);
  };
}
