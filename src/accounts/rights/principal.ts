export type Credential =
  'session' | 'api-key' | 'basic' | 'bearer' | 'token' | 'handler-call' | 'setup' | 'link';

export const VERBS = ['read', 'write'] as const;

/** `write` does not include `read`. */
export type Verb = (typeof VERBS)[number];

/** `pattern` null means every resource. */
export interface Scope {
  readonly verb: Verb;
  readonly pattern: string | null;
}

/** What a link opens, with the rights of its maker. */
export interface LinkGrant {
  readonly id: number;
  readonly kind: 'read' | 'upload';
  /** A name with its extension, a folder as `reports/*`, or `*`. */
  readonly resource: string;
  /** JSON; null: what it names as a whole. */
  readonly view: string | null;
  readonly maker: { readonly id: number; readonly username: string; readonly isSuperuser: boolean };
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
  /** Then the principal is no user, has no right of its own, and only what asks for links looks at this. */
  readonly link?: LinkGrant;
}

export type Caller = Principal | null;
