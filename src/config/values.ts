/** Each function normalises its text (lower case, no trailing slash, leading dot), so that nothing else has to. */
import { isIP } from 'node:net';
import { isLoopback } from '../base/ip-network.ts';
import { accepted, refused } from './setting.ts';
import type { Parsed } from './setting.ts';

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;
const EXTENSION = /^\.?([a-z0-9][a-z0-9_+-]*)$/;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/;
const ADDRESS_BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** An IPv6 address loses its brackets. */
export function bindHost(text: string): Parsed<string> {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1');
  // Digits and dots alone are meant as an address.
  const isName = HOST_NAME.test(host) && !/^[\d.]+$/.test(host);
  return isIP(host) !== 0 || isName
    ? accepted(host)
    : refused('an IP address or a host name without scheme or port', text);
}

/** Exact, or `*.domain`; IPv6 in brackets, as in a URL. */
export function hostPattern(text: string): Parsed<string> {
  const host = text.trim().toLowerCase();
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 6) return accepted(`[${bare}]`);
  return HOST_NAME.test(host.replace(/^\*\./, ''))
    ? accepted(host)
    : refused('a host name without scheme, port or path, or *.domain', text);
}

export function network(text: string): Parsed<string> {
  const given = text.trim().toLowerCase();
  const [address = '', bits, ...rest] = given.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  const bitsFit =
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (ADDRESS_BITS[version] ?? -1));
  return version !== 0 && bitsFit && rest.length === 0
    ? accepted(given)
    : refused('an IP address or a CIDR block', text);
}

/** `''`, or an http(s) address without credentials, query and fragment; trailing slashes are dropped. */
export function baseUrl(text: string): Parsed<string> {
  const given = text.trim().replace(/\/+$/, '');
  return given === '' || isPlainUrl(given)
    ? accepted(given)
    : refused('an http:// or https:// address without user, query or fragment', text);
}

/** `*`, or the origin of a site as browsers write it. */
export function webOrigin(text: string): Parsed<string> {
  const given = text.trim().replace(/\/$/, '').toLowerCase();
  if (given === '*' || (isPlainUrl(given) && new URL(given).origin === given))
    return accepted(given);
  return refused(
    'an origin such as https://app.example.org (scheme, host, port if unusual), or *',
    text,
  );
}

/**
 * `''`, or an OIDC issuer, kept letter for letter because it is compared so. http only for this machine: an impostor
 * of the provider decides who signs in.
 */
export function issuer(text: string): Parsed<string> {
  const isSafe = (): boolean => {
    const { protocol, hostname } = new URL(text);
    return protocol === 'https:' || isLoopback(hostname);
  };
  return text === '' || (isPlainUrl(text) && isSafe())
    ? accepted(text)
    : refused(
        'an https:// address without user, query or fragment (http:// on this machine only)',
        text,
      );
}

/** Lower case with its dot; the dot is optional. */
export function extension(text: string): Parsed<string> {
  const match = EXTENSION.exec(text.trim().toLowerCase());
  return match === null ? refused('a file extension such as .csv', text) : accepted(`.${match[1]}`);
}

/** Lower case, without parameters. */
export function mediaType(text: string): Parsed<string> {
  const given = text.trim().toLowerCase();
  return MEDIA_TYPE.test(given) ? accepted(given) : refused('a media type such as text/csv', text);
}

/** `''`, or one address, without a name beside it. */
export function mailAddress(text: string): Parsed<string> {
  const given = text.trim();
  return given === '' || isMailAddress(given)
    ? accepted(given)
    : refused('an e-mail address such as svc@example.org', text);
}

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"(),;:\\]+@[^\s@<>"(),;:\\]+$/.test(text);
}

function isPlainUrl(text: string): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
