/**
 * Tokens with which a handler asks this server in the name of the one who called it: with the rights of that request, no
 * longer than it lasts, and only through the socket in the state folder.
 */
import { randomBytes } from 'node:crypto';
import type { Principal } from '../rights/principal.ts';

const PREFIX = 'svc_call_';

export class HandlerCalls {
  readonly #callers = new Map<string, Principal>();

  begin(caller: Principal): { readonly token: string; end(): void } {
    const token = PREFIX + randomBytes(32).toString('base64url');
    this.#callers.set(token, caller);
    return { token, end: () => void this.#callers.delete(token) };
  }

  /** Null for one that is over. */
  callerOf(token: string): Principal | null {
    return this.#callers.get(token) ?? null;
  }
}

export function isCallToken(text: string): boolean {
  return text.startsWith(PREFIX);
}
