/**
 * Who is asking (architecture 4.7): one principal, many credentials.
 */

/** How the request authenticated (DS-93). */
export type Credential = 'session' | 'api-key' | 'basic' | 'bearer' | 'token' | 'setup';

/** What a permission can allow (DS-128). */
export const VERBS = ['read', 'write'] as const;

/** A permission verb. `write` does not include `read`. */
export type Verb = (typeof VERBS)[number];

/** One entry of an API key's scopes (DS-118); `pattern` null means every resource. */
export interface Scope {
  readonly verb: Verb;
  readonly pattern: string | null;
}

/** An authenticated, active user and the credential that proved it. */
export interface Principal {
  readonly userId: number;
  readonly username: string;
  readonly isSuperuser: boolean;
  readonly credential: Credential;
  /** Row id of the live session that came with the request, also when another credential won. */
  readonly sessionId: number | null;
  /** Row id of the API key, when that is the credential. */
  readonly apiKeyId: number | null;
  /** Null: all rights of the owner. */
  readonly scopes: readonly Scope[] | null;
  /** A key that can do nothing but create events (EV-58). */
  readonly isCreateOnly?: boolean;
}

/** The caller of an operation: a principal, or null for an anonymous one. */
export type Caller = Principal | null;
