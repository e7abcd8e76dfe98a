/**
 * `Authorization: Basic` with a local username and password (RFC 7617), or with an API key as the password and any user
 * name: for programs that know nothing else.
 */
import { looksLikeOwnKey } from '../api-keys.ts';
import { proveKey } from './api-key.ts';
import { BASIC_CHALLENGE } from '../refusal.ts';
import type { AuthenticationMethod } from '../method.ts';
import type { RefusalReason } from '../refusal.ts';
import { splitAuthorization } from '../method.ts';

export const basic: AuthenticationMethod = {
  credential: 'basic',
  claims({ authorization }) {
    const split = splitAuthorization(authorization);
    if (split?.scheme !== 'basic') return [];
    return [{ carrier: 'authorization', value: split.rest, challenge: BASIC_CHALLENGE }];
  },
  async prove(services, claim, clientAddress) {
    const { localLogin } = services;
    const pair = decodeBasic(claim.value);
    const key = typeof pair !== 'string' && looksLikeOwnKey(pair.password) ? pair.password : null;
    if (key !== null && typeof pair !== 'string') {
      localLogin.requireOpen({ username: pair.username, address: clientAddress });
      const proof = await proveKey(services, key);
      if (typeof proof !== 'string') return proof;
    }
    // What is no usable key counts as a failed login.
    if (!localLogin.isEnabled) return 'switched-off';
    if (typeof pair === 'string') return pair;
    const user = await localLogin.checkBasic({ ...pair, address: clientAddress });
    return user === null ? 'unknown' : { user };
  },
};

function decodeBasic(text: string): { username: string; password: string } | RefusalReason {
  if (text === '') return 'empty';
  if (/\s/.test(text)) return 'spaces';
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return 'encoding';
  const bytes = Buffer.from(text, 'base64');
  const pair = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = pair.indexOf(':');
  if (colon < 0) return { username: pair, password: '' };
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** Our challenge asks for UTF-8, but old clients send Latin-1 all the same. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
