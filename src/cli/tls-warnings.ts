import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errnoOf } from '../base/errors.ts';
import { isLoopback } from '../base/ip-network.ts';
import type { Config } from '../config/settings.ts';

/** Long enough to renew by hand; automatic renewal happens around then too. */
const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/**
 * One sentence per doubt about the TLS configuration. Never throws for the content of a certificate
 * or key file.
 */
export async function tlsWarnings(config: Config, nowMs: number): Promise<string[]> {
  if (config.tls_cert !== null && config.tls_key !== null) {
    return pairWarnings(config.tls_cert, config.tls_key, nowMs);
  }
  if (isLoopback(config.host) || config.public_url.startsWith('https:')) return [];
  return [
    `host ${config.host} is reachable from outside without TLS: passwords and data travel in clear text`,
  ];
}

async function pairWarnings(certPath: string, keyPath: string, nowMs: number): Promise<string[]> {
  const certificate = await readPem('tls_cert', certPath, (pem) => new X509Certificate(pem));
  const key = await readPem('tls_key', keyPath, createPrivateKey);
  const warnings = [certificate, key].filter((read) => typeof read === 'string');
  if (typeof certificate === 'string') return warnings;
  const daysLeft = (Date.parse(certificate.validTo) - nowMs) / DAY_MS;
  if (daysLeft < 0) warnings.push(`tls_cert expired on ${certificate.validTo}`);
  else if (daysLeft < SOON_DAYS) warnings.push(`tls_cert expires on ${certificate.validTo}`);
  if (Date.parse(certificate.validFrom) > nowMs) {
    warnings.push(`tls_cert is not valid before ${certificate.validFrom}`);
  }
  if (typeof key !== 'string' && !certificate.checkPrivateKey(key)) {
    warnings.push('tls_key does not belong to tls_cert');
  }
  return warnings;
}

async function readPem<T extends object>(
  name: string,
  path: string,
  parse: (pem: Buffer) => T,
): Promise<T | string> {
  try {
    return parse(await readFile(path));
  } catch (error) {
    const errno = errnoOf(error);
    // OpenSSL's messages about bad content do not help.
    return errno === undefined
      ? `${name} holds no usable PEM block`
      : `${name} cannot be read (${errno}): ${path}`;
  }
}
