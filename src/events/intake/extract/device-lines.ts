/** Formats of security devices: CEF, LEEF, and the codes of Cisco's messages. */
import { typedValue } from './pairs.ts';
import type { Members } from './members.ts';
import { memberSet, setPresent } from './members.ts';

const CEF_HEADER = /CEF:\s?(\d+(?:\.\d+)?)\|(?:[^\\|]*(?:\\.[^\\|]*){0,500}\|){6}/s;
const CEF_NAMES = [
  ...['device_vendor', 'device_product', 'device_version', 'signature_id', 'name', 'severity'],
];
/** A value reaches to the next key: it may hold spaces, and `\=` for an equals sign. */
const CEF_KEY = /(?:^|\s)([A-Za-z_][\w.[\]-]{0,254})=/g;
const LEEF =
  /LEEF:\s?(\d(?:\.\d)?)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|(?:(0?x[0-9A-Fa-f]{1,4}|[^|\s\w])\|)?(.*)$/s;
/** A host may stand before it. */
const CISCO =
  /^(?:([\w.:-]*\w) )?[:*]?\s?%([A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*?)-([0-7])-([A-Z0-9_]+):/;

/** Behind at most a header of syslog. */
export function extractCef(text: string): Members | null {
  const header = CEF_HEADER.exec(text.slice(0, 4096));
  if (header === null || header.index > 0) return null;
  const members = memberSet();
  members['cef_version'] = typedValue(header[1]!);
  const parts = header[0].slice(header[0].indexOf('|') + 1, -1).split(/(?<!\\)\|/);
  for (const [at, name] of CEF_NAMES.entries())
    setPresent(members, name, unescaped(parts[at] ?? ''));
  members['severity'] = typedValue(parts[5] ?? '');
  const pairs = text.slice(header[0].length);
  let key = '';
  let from = 0;
  for (const match of pairs.matchAll(CEF_KEY)) {
    if (key !== '') members[key] = typedValue(unescaped(pairs.slice(from, match.index).trim()));
    key = match[1]!;
    from = match.index + match[0].length;
  }
  if (key !== '') members[key] = typedValue(unescaped(pairs.slice(from).trim()));
  return members;
}

export function extractLeef(text: string): Members | null {
  const match = LEEF.exec(text);
  if (match === null || match.index > 0) return null;
  const [, version, vendor, product, release, eventId, mark, pairs] = match;
  const members = memberSet();
  members['leef_version'] = typedValue(version!);
  setPresent(members, 'device_vendor', vendor);
  setPresent(members, 'device_product', product);
  setPresent(members, 'device_version', release);
  setPresent(members, 'event_id', eventId);
  const separator =
    mark === undefined
      ? '\t'
      : mark.length === 1
        ? mark
        : String.fromCharCode(Number.parseInt(mark.replace(/^0?x/, ''), 16));
  for (const pair of pairs!.split(separator)) {
    const equals = pair.indexOf('=');
    if (equals > 0) members[pair.slice(0, equals).trim()] = typedValue(pair.slice(equals + 1));
  }
  return members;
}

/** `%ASA-6-302013: …` */
export function extractCisco(text: string): Members | null {
  const match = CISCO.exec(text);
  if (match === null) return null;
  const members = memberSet();
  const [, hostname, facility, severity, mnemonic] = match;
  setPresent(members, 'hostname', hostname);
  members['cisco_facility'] = facility;
  members['cisco_severity'] = Number(severity);
  members['cisco_mnemonic'] = mnemonic;
  return members;
}

function unescaped(text: string): string {
  return text.replace(/\\([\\|=nr])/g, (_, letter: string) =>
    letter === 'n' ? '\n' : letter === 'r' ? '\r' : letter,
  );
}
