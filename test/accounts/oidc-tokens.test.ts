/**
 * Keys of the provider over time: a new one is fetched when a token names it, an old one stops counting (DS-120, DS-126,
 * S-J7).
 */
import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import { Provider } from '../../src/accounts/oidc/provider.ts';
import { TokenVerifier } from '../../src/accounts/oidc/tokens.ts';
import { systemClock } from '../../src/base/clock.ts';
import { defaultConfig } from '../../src/config/settings.ts';
import { testLog } from '../support/database.ts';
import { FIRST_KEY, StandInProvider } from '../support/stand-in-provider.ts';

const AUDIENCE = 'https://data.example';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function verifierOf(standIn: StandInProvider): TokenVerifier {
  const { log } = testLog();
  const settings = { ...defaultConfig('/', '/').oidc, issuer: standIn.issuer, client_id: 'svc' };
  const provider = new Provider({ settings, clock: systemClock, log });
  return new TokenVerifier({ provider, clientId: 'svc', audience: AUDIENCE, clock: systemClock });
}

/** The clock of the wall alone: jose's memory of keys goes by it. */
const pass = (ms: number): unknown => setSystemTime(Date.now() + ms);
afterEach(() => {
  setSystemTime();
});

describe('a provider that changes its keys', () => {
  test('a token of the new key counts at once, and asks for the keys once', async () => {
    await using standIn = await StandInProvider.start();
    const verifier = verifierOf(standIn);
    expect(await verifier.accessToken(await standIn.token({ aud: AUDIENCE }))).not.toBeNull();
    pass(2 * MINUTE);
    await standIn.addKey('second', 'ES256');
    const key = standIn.keys.get('second')!.private;
    const header = { kid: 'second', alg: 'ES256' };
    const token = await standIn.token({ aud: AUDIENCE }, header, key);
    expect(await verifier.accessToken(token)).not.toBeNull();
    expect(standIn.count('/keys')).toBe(2);
    const other = await standIn.token({ aud: AUDIENCE, sub: 'x' }, header, key);
    expect(await verifier.accessToken(other)).not.toBeNull();
    expect(standIn.count('/keys')).toBe(2);
  });

  test('unknown keys make one request a minute', async () => {
    await using standIn = await StandInProvider.start();
    const verifier = verifierOf(standIn);
    for (let minute = 0; minute < 3; minute++) {
      for (let index = 0; index < 20; index++) {
        const token = await standIn.token({ aud: AUDIENCE }, { kid: `unknown ${index}` });
        expect(await verifier.accessToken(token)).toBeNull();
      }
      pass(61 * SECOND);
    }
    expect(standIn.count('/keys')).toBe(3);
  });

  test('a key that was taken back stops counting when the keys are fetched again', async () => {
    await using standIn = await StandInProvider.start();
    const verifier = verifierOf(standIn);
    const old = standIn.keys.get(FIRST_KEY)!.private;
    const claims = () => ({ aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 20_000 });
    const token = await standIn.token(claims());
    expect(await verifier.accessToken(token)).not.toBeNull();
    standIn.keys.delete(FIRST_KEY);
    await standIn.addKey('second', 'RS256');
    pass(61 * MINUTE);
    expect(await verifier.accessToken(token)).toBeNull();
    expect(await verifier.accessToken(await standIn.token(claims(), {}, old))).toBeNull();
  });

  test('a remembered token is forgotten at its end, and looked at again after a minute', async () => {
    await using standIn = await StandInProvider.start();
    const verifier = verifierOf(standIn);
    const exp = Math.floor(Date.now() / 1000) + 10;
    const short = await standIn.token({ aud: AUDIENCE, exp });
    expect(await verifier.accessToken(short)).not.toBeNull();
    pass(41 * SECOND);
    expect(await verifier.accessToken(short)).toBeNull();
  });
});

describe('keys', () => {
  test.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'])('of %s are believed', async (alg) => {
    await using standIn = await StandInProvider.start();
    await standIn.addKey('other', alg);
    const key = standIn.keys.get('other')!.private;
    const token = await standIn.token({ aud: AUDIENCE }, { alg, kid: 'other' }, key);
    expect(await verifierOf(standIn).accessToken(token)).not.toBeNull();
  });

  test('without an id count only where there is one (DS-126)', async () => {
    await using standIn = await StandInProvider.start();
    const token = await standIn.token({ aud: AUDIENCE }, { kid: undefined });
    expect(await verifierOf(standIn).accessToken(token)).not.toBeNull();
    await standIn.addKey('other', 'ES256');
    expect(await verifierOf(standIn).accessToken(token)).toBeNull();
  });

  test.each([
    ['no list', { keys: {} }],
    ['a symmetric key', { keys: [{ kty: 'oct', k: 'eA', kid: FIRST_KEY, alg: 'RS256' }] }],
    ['nonsense', { keys: [{ kty: 'RSA', kid: FIRST_KEY, n: '!', e: '!' }] }],
    ['null', null],
  ])('that are %s: no token is believed', async (_, keys) => {
    await using standIn = await StandInProvider.start();
    standIn.answers['/keys'] = () => Response.json(keys);
    const verified = verifierOf(standIn).accessToken(await standIn.token({ aud: AUDIENCE }));
    const outcome = await verified.catch((error: { code: string }) => error.code);
    expect([null, 'unavailable']).toContain(outcome as never);
  });
});
