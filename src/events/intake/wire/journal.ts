/** Entries of systemd's journal: as objects of `journalctl -o json`, and in its export format. */
import type { Entry } from '../intake.ts';
import { isObject } from '../json-text.ts';
import { epochMicros } from '../extract/member-facts.ts';
import { microsText } from './entries.ts';

const NEWLINE = 0x0a;
const EQUALS = 0x3d;
const LENGTH_BYTES = 8;
const MAX_NAME_CHARACTERS = 255;
export const JOURNAL_SOURCETYPE = 'journald';

export function isJournalEntry(value: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(value, '__REALTIME_TIMESTAMP') && !Object.hasOwn(value, 'data');
}

/** The message is the data, all else its fields. */
export function journalEntry(entry: Readonly<Record<string, unknown>>): Entry {
  const { MESSAGE: given, ...fields } = entry;
  const message = textOf(given);
  const micros = epochMicros(textOf(entry['__REALTIME_TIMESTAMP']));
  const source = textOf(entry['SYSLOG_IDENTIFIER']) || textOf(entry['_SYSTEMD_UNIT']);
  return {
    sourcetype: JOURNAL_SOURCETYPE,
    source: source.slice(0, MAX_NAME_CHARACTERS),
    host: textOf(entry['_HOSTNAME']).slice(0, MAX_NAME_CHARACTERS),
    data: message.trim() === '' ? JSON.stringify(fields) : message,
    fields,
    eventTime: micros === null ? null : microsText(micros),
  };
}

/** What is no UTF-8 comes as a list of bytes; of a member that stands there twice the first counts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (!Array.isArray(value)) return '';
  if (!value.every((byte) => typeof byte === 'number')) return textOf(value[0]);
  return Buffer.from(value).toString('utf8');
}

/** Offset behind the entry that begins there; negative when it does not end. */
export function exportEntryEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline < 0) return -1;
    if (newline === at) return newline + 1;
    const equals = bytes.subarray(at, newline).indexOf(EQUALS);
    at = newline + 1;
    if (equals >= 0) continue;
    // A value that is no text has its length before it.
    if (at + LENGTH_BYTES > bytes.length) return -1;
    const length = bytes.readBigUInt64LE(at);
    if (length > BigInt(bytes.length)) return -1;
    at += LENGTH_BYTES + Number(length) + 1;
  }
  return -1;
}

/** The members of one entry. */
export function exportMembers(entry: Buffer): Record<string, unknown> {
  const members = Object.create(null) as Record<string, unknown>;
  for (let at = 0; at < entry.length;) {
    const newline = entry.indexOf(NEWLINE, at);
    const line = entry.subarray(at, newline < 0 ? entry.length : newline);
    at += line.length + 1;
    const equals = line.indexOf(EQUALS);
    if (equals > 0) add(members, line.toString('utf8', 0, equals), line.subarray(equals + 1));
    else if (line.length > 0 && at + LENGTH_BYTES <= entry.length) {
      const length = Number(entry.readBigUInt64LE(at));
      at += LENGTH_BYTES;
      add(members, line.toString('utf8'), entry.subarray(at, at + length));
      at += length + 1;
    }
  }
  return members;
}

/** A member may stand there several times. */
function add(members: Record<string, unknown>, name: string, value: Buffer): void {
  const text = value.toString('utf8');
  const known = members[name];
  if (known === undefined) members[name] = text;
  else if (Array.isArray(known)) known.push(text);
  else members[name] = [known, text];
}

/** The members an event of the REST routes would have. */
export function restMembers(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { data, fields, eventTime, source, host, sourcetype } = journalEntry(entry);
  const found = isObject(fields) ? fields : {};
  return {
    data,
    sourcetype,
    ...(source && { source }),
    ...(host && { host }),
    extracted_fields: eventTime == null ? found : { ...found, event_time: eventTime },
  };
}
