/**
 * The server's own certificate: read, checked, and read again when its files change.
 *
 * A pair is checked before it replaces anything, so that a half-written or mismatched one never takes the place of one
 * that works.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AppError, errnoOf } from '../base/errors.ts';
import type { Config } from '../config/settings.ts';
import type { TlsPair } from './server.ts';

/** Where the pair stands; both or none. */
type Places = Pick<Config, 'tls_cert' | 'tls_key'>;

/** How often the files are looked at for a change nobody signalled. */
export const LOOK_MS = 2_000;

/** The pair of the configuration, null without one. Throws `usage` saying which file is wrong and how. */
export function readCertificate({ tls_cert: certPath, tls_key: keyPath }: Places): TlsPair | null {
  if (certPath === null || keyPath === null) return null;
  const cert = readPem('tls_cert', certPath);
  const key = readPem('tls_key', keyPath);
  const certificate = parse(
    'tls_cert holds no usable certificate',
    () => new X509Certificate(cert),
  );
  const privateKey = parse('tls_key holds no usable private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new AppError('usage', 'tls_key does not belong to tls_cert');
  }
  return { cert, key };
}

/** The certificate a server shows, and whether its files have changed since. */
export class ServedCertificate {
  #pair: TlsPair;
  #stamp: string;
  /** A stamp seen once: what was just written may be half of a pair. */
  #unsettled = '';

  constructor(places: Places, pair: TlsPair) {
    this.#pair = pair;
    this.#stamp = stampOf(places);
  }

  /** The pair as it is in the files now; null when it is the one in use. Throws as `readCertificate`. */
  renewed(places: Places): TlsPair | null {
    this.#stamp = stampOf(places);
    const pair = readCertificate(places);
    if (pair === null || (pair.cert === this.#pair.cert && pair.key === this.#pair.key))
      return null;
    this.#pair = pair;
    return pair;
  }

  /** In milliseconds of the epoch. */
  get expiresAt(): number {
    return Date.parse(new X509Certificate(this.#pair.cert).validTo);
  }

  /** As `renewed`, but only looks when the files have changed and have been left alone since the last call. */
  renewedIfChanged(places: Places): TlsPair | null {
    const stamp = stampOf(places);
    if (stamp === this.#stamp) return null;
    if (stamp !== this.#unsettled) {
      this.#unsettled = stamp;
      return null;
    }
    return this.renewed(places);
  }
}

function stampOf({ tls_cert: cert, tls_key: key }: Places): string {
  return [cert, key].map((path) => (path === null ? '' : stampOfFile(path))).join(' ');
}

function stampOfFile(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino}-${found.size}-${found.mtimeNs}`;
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new AppError('usage', `${name} cannot be read (${errno}): ${path}`, { cause: error });
  }
}

function parse<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // What OpenSSL says about bad content helps nobody.
    throw new AppError('usage', problem, { cause: error });
  }
}
