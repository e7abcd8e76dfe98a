/** Line endings of a file: which prevails, and which one some bytes end with. */
import { type Encoding, unitBytes } from './encoding.ts';
import type { LineEndings } from './tokenizer.ts';

/** What ends a line. */
export type LineEnding = '\n' | '\r\n' | '\r';

const LF = 10;
const CR = 13;

/** The file's most frequent line ending; LF before CRLF before CR when they are equally frequent. */
export function prevailingEnding({ lf, crlf, cr }: Readonly<LineEndings>): LineEnding {
  if (lf >= crlf && lf >= cr) return '\n';
  return crlf >= cr ? '\r\n' : '\r';
}

/** Counts a line ending (`step` 1) or takes it back (-1); none counts nothing. */
export function countEnding(endings: LineEndings, ending: LineEnding | '', step: 1 | -1): void {
  if (ending === '\n') endings.lf += step;
  else if (ending === '\r\n') endings.crlf += step;
  else if (ending === '\r') endings.cr += step;
}

/** The line ending that whole characters of a file end with, by their last two units; '' for none. */
export function lineEndingOf(tail: Uint8Array, encoding: Encoding): LineEnding | '' {
  const unit = unitBytes(encoding);
  const last = unitAt(tail, tail.length - unit, encoding);
  if (last === CR) return '\r';
  if (last !== LF) return '';
  return unitAt(tail, tail.length - 2 * unit, encoding) === CR ? '\r\n' : '\n';
}

function unitAt(bytes: Uint8Array, at: number, encoding: Encoding): number {
  if (unitBytes(encoding) === 1) return bytes[at] ?? -1;
  const [low, high] =
    encoding === 'utf-16le' ? [bytes[at], bytes[at + 1]] : [bytes[at + 1], bytes[at]];
  return low === undefined || high === undefined ? -1 : low + high * 256;
}
