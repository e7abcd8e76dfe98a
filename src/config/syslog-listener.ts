import type { Objection, Parsed, RawValue } from './setting.ts';
import { unknownKey } from './nearest-name.ts';
import { accepted, acceptedUnless, refused } from './setting.ts';
import { network } from './values.ts';

export interface SyslogListenerSetting {
  /** Unique; part of the source of its events. */
  readonly name: string;
  readonly protocol: 'udp' | 'tcp' | 'tls';
  /** IPv6 without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly user: string;
  readonly index: string | null;
  readonly sourcetype: string | null;
  /** IP addresses and CIDR blocks; empty: everybody. */
  readonly allow: readonly string[];
  readonly max_message_bytes: number;
  /** A connection is closed after so long without data. */
  readonly idle_seconds: number;
  /** In total, and from one address. */
  readonly max_connections: number;
  readonly max_connections_per_address: number;
}

const KEYS = new Set([
  'name',
  'listen',
  'user',
  'index',
  'sourcetype',
  'allow',
  'max_message_bytes',
  'idle_seconds',
  'max_connections',
  'max_connections_per_address',
]);
const NAME = /^[\w.-]{1,64}$/;
const ADDRESS = /^(udp|tcp|tls):\/\/(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/;

/** Bounds are inclusive. */
const NUMBERS = {
  max_message_bytes: { otherwise: 65_536, min: 480, max: 1_048_576 },
  // Senders silent for an hour reconnect when they have something to send.
  idle_seconds: { otherwise: 3_600, min: 1, max: 604_800 },
  max_connections: { otherwise: 512, min: 1, max: 10_000 },
  max_connections_per_address: { otherwise: 64, min: 1, max: 10_000 },
} as const;

export function parseSyslogListeners(raw: RawValue): Parsed<readonly SyslogListenerSetting[]> {
  if (!Array.isArray(raw)) return refused('a list', raw);
  const listeners: SyslogListenerSetting[] = [];
  const objections: Objection[] = [];
  for (const [index, item] of raw.entries()) {
    const parsed = parseListener(item as RawValue);
    const text = `item ${index + 1} `;
    if (!parsed.ok) objections.push({ problem: text + parsed.problem, index });
    else if (listeners.some(({ name }) => name === parsed.value.name)) {
      objections.push({ problem: `${text}has the name of another one`, index });
    } else listeners.push(parsed.value);
  }
  return acceptedUnless(listeners, objections);
}

function parseListener(raw: RawValue): Parsed<SyslogListenerSetting> {
  if (!(raw instanceof Map)) return refused('a map', raw);
  const unknown = [...raw.keys()].find((key) => !KEYS.has(key as string));
  if (unknown !== undefined) return problem(unknownKey(unknown, KEYS));
  const name = textOf(raw, 'name');
  if (name === null || !NAME.test(name)) return problem('needs a name of letters, digits, . _ -');
  const address = ADDRESS.exec(textOf(raw, 'listen') ?? '');
  const port = Number(address?.[3]);
  if (address === null || port > 65_535) {
    return problem('needs listen: udp://, tcp:// or tls:// with host and port');
  }
  const user = textOf(raw, 'user');
  if (user === null) return problem('needs a user');
  const allow = allowedIn(raw.get('allow') as RawValue);
  if (allow === null)
    return problem('has an allow that is no list of IP addresses and CIDR blocks');
  const numbers: Record<string, number> = {};
  for (const [key, { otherwise, min, max }] of Object.entries(NUMBERS)) {
    const value = raw.get(key) ?? otherwise;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
      return problem(`needs ${key} from ${min} to ${max}`);
    numbers[key] = value;
  }
  return accepted({
    name,
    protocol: address[1] as SyslogListenerSetting['protocol'],
    host: address[2]!.replace(/^\[|\]$/g, ''),
    port,
    user,
    index: textOf(raw, 'index'),
    sourcetype: textOf(raw, 'sourcetype'),
    allow,
    ...(numbers as Record<keyof typeof NUMBERS, number>),
  });
}

function allowedIn(raw: RawValue): readonly string[] | null {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) return null;
  const networks = raw.map((item) => (typeof item === 'string' ? network(item) : null));
  return networks.every((one) => one?.ok === true)
    ? networks.map((one) => (one as { value: string }).value)
    : null;
}

function textOf(map: ReadonlyMap<unknown, unknown>, name: string): string | null {
  const value = map.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function problem<T>(text: string): Parsed<T> {
  return { ok: false, problem: text };
}
