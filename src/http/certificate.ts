/**
 * The server's certificate: a pair is checked before it replaces the one in use, so a half-written or mismatched one never
 * does.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AppError, errnoOf } from '../base/errors.ts';
import type { Config } from '../config/settings.ts';
import type { TlsPair } from './server.ts';

type Places = Pick<Config, 'tls_cert' | 'tls_key'>;

export const LOOK_MS = 2_000;

/** Null without one. Throws `usage` naming the file that is wrong. */
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

export class ServedCertificate {
  #pair: TlsPair;
  #stamp: string;
  /** A stamp seen once: the pair may be half written. */
  #unsettled = '';

  constructor(places: Places, pair: TlsPair) {
    this.#pair = pair;
    this.#stamp = stampOf(places);
  }

  /** Null when the files hold the one in use. Throws as `readCertificate`. */
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

  /** As `renewed`, but reads only after the files changed and then stayed unchanged between two calls. */
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
