import type { Word } from './ast.ts';
import { fillText, type Parameters } from './placeholder.ts';
import { Problem } from './problem.ts';
import { floorMs, msOf, spanOf, timeFromMs, timeValue, type Span } from '../expressions/time.ts';
import { doubleOf, finite, isNumber, type Value } from '../expressions/value.ts';

/** Throws `bad_value`. */
export function requireSpan(word: Word, parameters: Parameters): Span {
  const { place } = word;
  const text = fillText(word.text, parameters, place);
  const span = spanOf(text);
  if (span) return span;
  const message = `Invalid span '${text}'; use a number or a number with s, m, h, d, w, mon, q or y`;
  throw new Problem('bad_value', message, { place });
}

/** Null for what the span does not fit. */
export function floorTo(value: Value, span: Span): Value {
  if (span.kind === 'time') {
    const time = timeValue(value);
    return time === null ? null : timeFromMs(floorMs(msOf(time), span.unit, span.count));
  }
  const number = isNumber(value) || typeof value === 'string' ? doubleOf(value) : null;
  return number === null ? null : finite(Math.floor(number / span.size) * span.size);
}
