/** WebAuthn, level 3: keys in phones, computers and sticks that sign for one site. */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { isIP } from 'node:net';
import type { Passkey } from './factors.ts';

/** Where the browser is. */
export interface Site {
  /** A host name; keys of one are of no use for another. */
  readonly host: string;
  readonly origins: readonly string[];
}

/** Browsers sign for names only. */
export function siteOf(baseUrl: string, origins: readonly string[]): Site | null {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return host === '' || host.startsWith('[') || isIP(host) !== 0 ? null : { host, origins };
}

export function registrationOptions(
  site: Site,
  user: { readonly id: number; readonly username: string },
  known: readonly Passkey[],
  challenge: string,
): Promise<object> {
  return generateRegistrationOptions({
    rpName: site.host,
    rpID: site.host,
    userName: user.username,
    userID: new Uint8Array(Buffer.from(`svc user ${user.id}`)),
    challenge: bytesOf(challenge),
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId: id }) => ({ id })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** `known` empty: any key of this site that names its user. */
export function signInOptions(
  site: Site,
  known: readonly Passkey[],
  challenge: string,
): Promise<object> {
  return generateAuthenticationOptions({
    rpID: site.host,
    challenge: bytesOf(challenge),
    allowCredentials: known.map(({ credentialId: id }) => ({ id })),
    userVerification: known.length === 0 ? 'required' : 'preferred',
  });
}

/** The challenge that an answer of the browser claims to be for; null: it is no such answer. */
export function challengeOf(answer: unknown): string | null {
  try {
    const { response } = answer as { response: { clientDataJSON: string } };
    const data = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()) as {
      challenge: string;
    };
    return Buffer.from(data.challenge, 'base64url').toString();
  } catch {
    return null;
  }
}

/** Null: the answer is wrong. */
export async function verifiedKey(
  site: Site,
  answer: unknown,
  challenge: string,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter'> | null> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: answer as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: encoded(challenge),
      expectedOrigin: [...site.origins],
      expectedRPID: site.host,
      requireUserVerification: false,
    });
    if (!verified || registrationInfo === undefined) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: new Uint8Array(publicKey), counter };
  } catch {
    return null;
  }
}

/** The key's new counter; null: the answer is wrong. `isAlone`: there was no password, so the key has to know its user. */
export async function verifiedSignature(
  site: Site,
  answer: unknown,
  challenge: string,
  { credentialId: id, publicKey, counter }: Passkey,
  isAlone: boolean,
): Promise<number | null> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: encoded(challenge),
      expectedOrigin: [...site.origins],
      expectedRPID: site.host,
      requireUserVerification: isAlone,
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge));
}

function encoded(challenge: string): string {
  return Buffer.from(challenge).toString('base64url');
}
