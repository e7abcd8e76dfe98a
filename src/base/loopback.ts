/** Which host names only reach this machine. */
import { isIP } from 'node:net';

/** True for an address or name that other machines cannot reach. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === '[::1]' || host === 'localhost';
}
