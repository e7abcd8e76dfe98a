/**
 * Users, groups, rights and credentials of a running service, written straight into its state database.
 *
 * Uses the product's own functions, so a test that is not about the account API does not depend on it. Rights and
 * credentials take effect with the next request.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLink, type NewLink } from '../../src/accounts/rights/links.ts';
import { createApiKey } from '../../src/accounts/identity/api-keys.ts';
import { csrfToken } from '../../src/accounts/identity/csrf-check.ts';
import { addMember, createGroup, findGroup } from '../../src/accounts/rights/groups.ts';
import { hashPassword } from '../../src/accounts/identity/passwords.ts';
import {
  assignPermission,
  createPermission,
  findPermission,
} from '../../src/accounts/rights/permissions.ts';
import type { Verb } from '../../src/accounts/rights/principal.ts';
import { normalResource } from '../../src/accounts/rights/resource-names.ts';
import { parseScopes } from '../../src/accounts/rights/scopes.ts';
import { createSession } from '../../src/accounts/identity/sessions.ts';
import { createUser, findUser } from '../../src/accounts/identity/users.ts';
import type { User } from '../../src/accounts/identity/users.ts';
import { openSqliteDatabase } from '../../src/store/sqlite-database.ts';
import type { SqliteDatabase } from '../../src/store/sqlite-database.ts';
import { DATABASE_FILE, SECRET_FILE } from '../../src/store/state-files.ts';

interface UserOptions {
  /** Without one the user cannot sign in with a password; making one costs a hash. */
  readonly password?: string;
  readonly superuser?: boolean;
}

/** What a browser holds after signing in. */
interface BrowserSession {
  /** Value of the header `Cookie`, with the session and the CSRF cookie. */
  readonly cookie: string;
  /** Value of the header `X-CSRF-Token`. */
  readonly csrfToken: string;
}

/** The accounts of one state directory; opened at first use. */
export class Accounts {
  readonly #stateDir: string;
  #db: SqliteDatabase | null = null;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** The state database; a second handle beside the service's own. */
  get db(): SqliteDatabase {
    this.#db ??= openSqliteDatabase(join(this.#stateDir, DATABASE_FILE));
    return this.#db;
  }

  /** The user of that name, made when there is none; the options count only then. */
  async user(username: string, options: UserOptions = {}): Promise<User> {
    const found = await findUser(this.db, username);
    if (found !== null) return found;
    const { password, superuser = false } = options;
    const passwordHash = password === undefined ? null : await hashPassword(password);
    return createUser(this.db, { username, passwordHash, isSuperuser: superuser, now: Date.now() });
  }

  /** Makes the users members of the group, which is made when there is none. */
  async group(name: string, usernames: readonly string[] = []): Promise<number> {
    const found = await findGroup(this.db, name);
    const { id } = found ?? (await createGroup(this.db, { name, description: null }));
    for (const username of usernames) await addMember(this.db, id, (await this.user(username)).id);
    return id;
  }

  /** Gives the group the verbs on the resource; `''` is the docroot boundary (upload). */
  async grantGroup(name: string, resource: string, ...verbs: readonly Verb[]): Promise<void> {
    const groupId = await this.group(name);
    const text = normalResource(resource);
    for (const action of verbs) {
      const permission =
        (await findPermission(this.db, text, action)) ??
        (await createPermission(this.db, { resource: text, action, description: null }));
      await assignPermission(this.db, groupId, permission.id);
    }
  }

  /** Gives one user the verbs on the resource, through a group of their own. */
  async grant(username: string, resource: string, ...verbs: readonly Verb[]): Promise<void> {
    const group = `only ${username}`;
    await this.group(group, [username]);
    await this.grantGroup(group, resource, ...verbs);
  }

  /** The value of a new API key of the user, who is made when absent. `scopes` as in DS-118. */
  async apiKey(username: string, scopes: readonly string[] | null = null): Promise<string> {
    const { id: userId } = await this.user(username);
    const { value } = await createApiKey(this.db, {
      userId,
      description: 'made by a test',
      expiresInDays: null,
      scopes: parseScopes(scopes),
      now: Date.now(),
    });
    return value;
  }

  /** A new browser session of the user, who is made when absent; no password is needed. */
  async session(username: string): Promise<BrowserSession> {
    const { id: userId } = await this.user(username);
    const { token } = await createSession(this.db, {
      userId,
      ip: '127.0.0.1',
      userAgent: 'test',
      now: Date.now(),
    });
    const csrf = csrfToken(readFileSync(join(this.#stateDir, SECRET_FILE)), token);
    return { cookie: `svc_session=${token}; svc_csrf=${csrf}`, csrfToken: csrf };
  }

  /** The path of a new link of the user, who is made when absent: `/s/<secret>`. */
  async link(username: string, resource: string, other: Partial<NewLink> = {}): Promise<string> {
    const { id: userId } = await this.user(username);
    const { secret } = await createLink(this.db, {
      userId,
      kind: 'read',
      resource,
      view: null,
      description: null,
      passwordHash: null,
      maxBytes: null,
      now: Date.now(),
      lifeMs: 3_600_000,
      ...other,
    });
    return `/s/${secret}`;
  }

  async close(): Promise<void> {
    await this.#db?.close();
    this.#db = null;
  }
}
