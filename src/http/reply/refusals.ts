/**
 * Refusals with an `Allow` header, the same wherever they are found out.
 */
import { AppError } from '../../base/errors.ts';
import { allowed } from '../route.ts';

const SAFE_ONLY = 'GET, HEAD, OPTIONS';

/** 405 with the methods a path has; GET implies HEAD, OPTIONS is always there. */
export function methodNotAllowed(methods: readonly string[]): AppError {
  const headers = { Allow: allowed(methods) };
  return new AppError('method-not-allowed', 'Method Not Allowed', { headers });
}

/** 405 of read-only mode. */
export function readOnlyMode(): AppError {
  const headers = { Allow: SAFE_ONLY };
  return new AppError('read-only', 'Server is in read-only mode', { headers });
}

/** Whether a method changes nothing and so needs no CSRF token. */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
