/**
 * JSON of results that are JSON already: rows and schemas go into an answer as they were written, so no digit is lost
 * and nothing is parsed only to be written again (DS-1).
 */
import { JsonNumber } from '../../base/json.ts';

/** A JSON text that stands for its value. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A value as compact JSON. Takes what `parseJson` gives and JsonText at any depth; undefined members are left out. */
export function writeJson(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (value instanceof JsonNumber) return value.source;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`);
  return `{${members.join(',')}}`;
}

/** A parsed integer as its digits; `5.0` is the integer 5. */
export function integerText(value: unknown): string {
  const text = writeJson(value);
  return /^-?[0-9]+$/.test(text) ? text : BigInt(Number(text)).toString();
}
