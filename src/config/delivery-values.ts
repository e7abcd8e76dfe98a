/** Of the section `deliveries`: secrets are named by their place, never written down here. */
import { isAbsolute } from 'node:path';
import { unknownKey } from './nearest-name.ts';
import {
  accepted,
  acceptedUnless,
  type Objection,
  type Parsed,
  type RawValue,
  refused,
} from './setting.ts';

/** A receiver of the operator, known to definitions by its name. */
export interface DeliveryTargetSetting {
  /** An address, or the place of one that is a secret itself. */
  readonly url: string;
  /** Place of the key that signs; null: not signed. */
  readonly secret: string | null;
  /** Places of the values of further headers, by name. */
  readonly headers: Readonly<Record<string, string>>;
}

const TARGET_KEYS = new Set(['url', 'secret', 'headers']);
const NAME = /^[\w.-]{1,100}$/;
const HEADER = /^[A-Za-z0-9-]{1,100}$/;
const PLACE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\S.*)$/;
const EXPECTED_PLACE = 'env:<variable> or file:</absolute/path>, where the secret stands';

/** `''`, or where a secret stands. */
export function secretPlace(given: string): Parsed<string> {
  const trimmed = given.trim();
  return trimmed === '' || isPlace(trimmed)
    ? accepted(trimmed)
    : // What was given may be the secret itself.
      { ok: false, problem: `must be ${EXPECTED_PLACE}` };
}

export function isPlace(text: string): boolean {
  return PLACE.test(text) && (!text.startsWith('file:') || isAbsolute(text.slice(5)));
}

export function parseSecrets(raw: RawValue): Parsed<Readonly<Record<string, string>>> {
  return parseMap(raw, (name, value) =>
    typeof value === 'string' && isPlace(value.trim())
      ? accepted(value.trim())
      : problem(`needs under '${name}' ${EXPECTED_PLACE}`),
  );
}

export function parseTargets(
  raw: RawValue,
): Parsed<Readonly<Record<string, DeliveryTargetSetting>>> {
  return parseMap(raw, parseTarget);
}

function parseTarget(name: string, raw: RawValue): Parsed<DeliveryTargetSetting> {
  if (!(raw instanceof Map)) return problem(`needs a url under '${name}'`);
  const unknown = [...raw.keys()].find((key) => !TARGET_KEYS.has(key as string));
  if (unknown !== undefined) return problem(unknownKey(unknown, TARGET_KEYS, ` under '${name}'`));
  const [url, secret, headers] = [raw.get('url'), raw.get('secret') ?? null, raw.get('headers')];
  const isUrl = typeof url === 'string' && (isPlace(url.trim()) || isWebAddress(url.trim()));
  if (!isUrl) return problem(`needs under '${name}' a url: http(s)://…, or ${EXPECTED_PLACE}`);
  if (secret !== null && (typeof secret !== 'string' || !isPlace(secret.trim())))
    return problem(`needs as secret of '${name}' ${EXPECTED_PLACE}`);
  const parsed = parseHeaders(name, headers);
  return parsed.ok
    ? accepted({ url: url.trim(), secret: secret?.trim() ?? null, headers: parsed.value })
    : parsed;
}

function parseHeaders(name: string, raw: RawValue): Parsed<Readonly<Record<string, string>>> {
  if (raw === undefined || raw === null) return accepted({});
  if (!(raw instanceof Map)) return problem(`needs a map as headers of '${name}'`);
  const headers: Record<string, string> = {};
  for (const [header, value] of raw as ReadonlyMap<string, RawValue>) {
    if (!HEADER.test(header) || isOwnHeader(header))
      return problem(`cannot set the header '${header}' under '${name}'`);
    if (typeof value !== 'string' || !isPlace(value.trim()))
      return problem(`needs as header '${header}' of '${name}' ${EXPECTED_PLACE}`);
    headers[header] = value.trim();
  }
  return accepted(headers);
}

/** Set by the delivery, or by the connection. */
function isOwnHeader(name: string): boolean {
  const own = ['host', 'content-type', 'content-length', 'transfer-encoding', 'connection'];
  return own.includes(name.toLowerCase()) || name.toLowerCase().startsWith('svc-');
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function parseMap<T>(
  raw: RawValue,
  parse: (name: string, value: RawValue) => Parsed<T>,
): Parsed<Readonly<Record<string, T>>> {
  if (!(raw instanceof Map)) return refused('a map', raw);
  const values: Record<string, T> = {};
  const objections: Objection[] = [];
  for (const [index, [name, value]] of [...(raw as ReadonlyMap<string, RawValue>)].entries()) {
    const parsed: Parsed<T> = NAME.test(name)
      ? parse(name, value)
      : problem(`has the name '${name}'; names are letters, digits, . _ -`);
    if (parsed.ok) values[name] = parsed.value;
    else objections.push({ problem: parsed.problem, index });
  }
  return acceptedUnless(values, objections);
}

function problem<T>(text: string): Parsed<T> {
  return { ok: false, problem: text };
}
