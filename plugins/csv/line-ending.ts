/** LF, CRLF and CR: the prevailing one, and the one at the end of some bytes. */
import { type Encoding, unitBytes } from './encoding.ts';
import type { LineEndings } from './tokenizer.ts';

export type LineEnding = '\n' | '\r\n' | '\r';

const LF = 10;
const CR = 13;

/** On a tie LF before CRLF before CR. */
export function prevailingEnding({ lf, crlf, cr }: Readonly<LineEndings>): LineEnding {
  if (lf >= crlf && lf >= cr) return '\n';
  return crlf >= cr ? '\r\n' : '\r';
}

/** `step` -1 takes it back. */
export function countEnding(endings: LineEndings, ending: LineEnding | '', step: 1 | -1): void {
  if (ending === '\n') endings.lf += step;
  else if (ending === '\r\n') endings.crlf += step;
  else if (ending === '\r') endings.cr += step;
}

/** `tail` must be whole characters, at least the last two units; '' for none. */
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
