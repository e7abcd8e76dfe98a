export type Credential =
  'session' | 'api-key' | 'basic' | 'bearer' | 'token' | 'handler-call' | 'setup';

export const VERBS = ['read', 'write'] as const;

/** `write` does not include `read`. */
export type Verb = (typeof VERBS)[number];

/** `pattern` null means every resource. */
export interface Scope {
  readonly verb: Verb;
  readonly pattern: string | null;
}

export interface Principal {
  readonly userId: number;
  readonly username: string;
  /** Only with a credential that nothing narrows: administration requires this. */
  readonly isSuperuser: boolean;
  /** A superuser whose key has scopes or settings: every right within them, no more. */
  readonly isNarrowedSuperuser?: boolean;
  readonly credential: Credential;
  /** Even when another credential won. */
  readonly sessionId: number | null;
  readonly apiKeyId: number | null;
  readonly scopes: readonly Scope[] | null;
  readonly isCreateOnly?: boolean;
}

export type Caller = Principal | null;
