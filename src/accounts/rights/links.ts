/**
 * Links: whoever has the address of one reads one thing, or uploads into one folder, without an account.
 *
 * Only a hash of the secret is stored. A link has the rights of its maker at each request, narrowed to what it was made
 * for (operations/access.ts).
 */
import { timestamp } from '../../base/clock.ts';
import { randomToken, sha256Hex } from '../../base/ids.ts';
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import type { Database } from '../../store/database.ts';
import type { ListSource } from '../../store/list-source.ts';
import { rememberedFor } from '../../store/remembered.ts';
import { type User, userColumns, type UserRow, withUser } from '../identity/users.ts';
import type { Principal } from './principal.ts';

export const LINK_KINDS = ['read', 'upload'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

const SECRET_BYTES = 16;
/** What stands after `/s/`: SECRET_BYTES as base64url. */
export const LINK_SECRET = /^[A-Za-z0-9_-]{22}$/;

export interface Link {
  readonly id: number;
  readonly userId: number;
  readonly kind: LinkKind;
  /** A name with its extension, or a folder as `reports/*`; `*` is the whole document root. */
  readonly resource: string;
  /** JSON; null for folders and what has no rows. */
  readonly view: string | null;
  readonly description: string | null;
  readonly passwordHash: string | null;
  /** Of all uploads together; null for links that only read. */
  readonly maxBytes: number | null;
  readonly uploadedBytes: number;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly uses: number;
  readonly lastUsedAt: string | null;
}

type LinkFacts =
  'userId' | 'kind' | 'resource' | 'view' | 'description' | 'passwordHash' | 'maxBytes';

export interface NewLink extends Pick<Link, LinkFacts> {
  readonly now: number;
  readonly lifeMs: number;
}

interface LinkRow {
  readonly id: number;
  readonly owner_id: number;
  readonly kind: LinkKind;
  readonly resource: string;
  readonly fixed_view: string | null;
  readonly description: string | null;
  readonly password_hash: string | null;
  readonly max_bytes: number | null;
  readonly uploaded_bytes: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
  readonly uses: number;
  readonly last_used_at: string | null;
}

const linkColumns = `links.id AS id, links.user_id AS owner_id, kind, resource, fixed_view, description,
  links.password_hash AS password_hash, max_bytes, uploaded_bytes, links.created_at AS created_at, expires_at,
  revoked_at, uses, last_used_at`;

function linkOf(row: LinkRow): Link {
  return {
    id: row.id,
    userId: row.owner_id,
    kind: row.kind,
    resource: row.resource,
    view: row.fixed_view,
    description: row.description,
    passwordHash: row.password_hash,
    maxBytes: row.max_bytes,
    uploadedBytes: row.uploaded_bytes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    uses: row.uses,
    lastUsedAt: row.last_used_at,
  };
}

/** `secret` cannot be read again. */
export async function createLink(
  db: Database,
  { now, lifeMs, ...link }: NewLink,
): Promise<{ readonly link: Link; readonly secret: string }> {
  const secret = randomToken(SECRET_BYTES);
  const createdAt = timestamp(now);
  const expiresAt = timestamp(now + lifeMs);
  const { lastId: id } = await db.run(
    `INSERT INTO links (secret_hash, user_id, kind, resource, fixed_view, description, password_hash, max_bytes,
       created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      sha256Hex(secret),
      link.userId,
      link.kind,
      link.resource,
      link.view,
      link.description,
      link.passwordHash,
      link.maxBytes,
      createdAt,
      expiresAt,
    ],
  );
  const unused = { uploadedBytes: 0, revokedAt: null, uses: 0, lastUsedAt: null };
  return { link: { id, ...link, createdAt, expiresAt, ...unused }, secret };
}

export interface FoundLink {
  readonly link: Link;
  readonly maker: User;
}

const linksByHash = rememberedFor<FoundLink | null>(1_000);

/** Null for one that is unknown, revoked or over, and for one of a deactivated account. */
export function findLink(
  db: Database,
  secret: string,
  now: number,
): MaybePromise<FoundLink | null> {
  const hash = sha256Hex(secret);
  const found = linksByHash(db).get(db, hash, async () => {
    const row = await db.get<LinkRow & UserRow>(
      `SELECT ${linkColumns}, ${userColumns} FROM links JOIN users ON users.id = links.user_id
       WHERE secret_hash = ?`,
      [hash],
    );
    if (row === null) return null;
    const { user: maker, rest } = withUser(row);
    return { link: linkOf(rest as LinkRow), maker };
  });
  return whenResolved(found, (one) => (one !== null && isLive(one, now) ? one : null));
}

export function linkPrincipal({ link, maker }: FoundLink): Principal {
  const { id, kind, resource, view } = link;
  return {
    userId: 0,
    username: `link ${id} of ${maker.username}`,
    isSuperuser: false,
    credential: 'link',
    sessionId: null,
    apiKeyId: null,
    scopes: [],
    link: { id, kind, resource, view, maker },
  };
}

function isLive({ link, maker }: FoundLink, now: number): boolean {
  return maker.isActive && link.revokedAt === null && link.expiresAt > timestamp(now);
}

/** Newest first; those that are over too. */
export async function listLinks(
  db: Database,
  only: { readonly userId?: number; readonly resources?: readonly string[] },
): Promise<(Link & { readonly username: string })[]> {
  const rows = await db.all<LinkRow & { readonly username: string }>(
    `SELECT ${linkColumns}, username FROM links JOIN users ON users.id = links.user_id
     WHERE links.user_id = coalesce(?, links.user_id) ORDER BY links.id DESC`,
    [only.userId ?? null],
  );
  const { resources } = only;
  return rows
    .filter(({ resource }) => resources === undefined || resources.includes(resource))
    .map((row) => ({ ...linkOf(row), username: row.username }));
}

/** Null when there is no such link, or not of that user. One that was revoked before stays as it was. */
export async function revokeLink(
  db: Database,
  id: number,
  now: number,
  only: { readonly userId?: number } = {},
): Promise<Link | null> {
  return db.transaction(async (tx) => {
    const row = await tx.get<LinkRow>(
      `SELECT ${linkColumns} FROM links WHERE id = ? AND user_id = coalesce(?, user_id)`,
      [id, only.userId ?? null],
    );
    if (row === null) return null;
    await tx.run('UPDATE links SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?', [
      timestamp(now),
      id,
    ]);
    return linkOf(row);
  });
}

export async function noteLinkUse(db: Database, id: number, now: number): Promise<void> {
  await db.relaxed.run('UPDATE links SET uses = uses + 1, last_used_at = ? WHERE id = ?', [
    timestamp(now),
    id,
  ]);
}

/** False when the link has no room left for them. */
export async function takeLinkRoom(db: Database, id: number, bytes: number): Promise<boolean> {
  const { changes } = await db.run(
    'UPDATE links SET uploaded_bytes = uploaded_bytes + ? WHERE id = ? AND uploaded_bytes + ? <= max_bytes',
    [bytes, id, bytes],
  );
  return changes > 0;
}

export async function giveLinkRoom(db: Database, id: number, bytes: number): Promise<void> {
  if (bytes <= 0) return;
  await db.run('UPDATE links SET uploaded_bytes = uploaded_bytes - ? WHERE id = ?', [bytes, id]);
}

export const linkList: ListSource = {
  name: 'links',
  from: 'links JOIN users ON users.id = links.user_id',
  id: 'links.id',
  columns: [
    { name: 'id', type: 'integer', sql: 'links.id' },
    { name: 'user_id', type: 'integer', sql: 'links.user_id' },
    { name: 'username', type: 'string', sql: 'users.username' },
    { name: 'kind', type: 'string', sql: 'links.kind' },
    { name: 'resource', type: 'string', sql: 'links.resource' },
    { name: 'view', type: 'nested', sql: 'links.fixed_view' },
    { name: 'description', type: 'string', sql: 'links.description' },
    { name: 'has_password', type: 'boolean', sql: 'links.password_hash IS NOT NULL' },
    { name: 'max_bytes', type: 'integer', sql: 'links.max_bytes' },
    { name: 'uploaded_bytes', type: 'integer', sql: 'links.uploaded_bytes' },
    { name: 'created_at', type: 'date-time', sql: 'links.created_at' },
    { name: 'expires_at', type: 'date-time', sql: 'links.expires_at' },
    { name: 'revoked_at', type: 'date-time', sql: 'links.revoked_at' },
    { name: 'uses', type: 'integer', sql: 'links.uses' },
    { name: 'last_used_at', type: 'date-time', sql: 'links.last_used_at' },
  ],
  sortable: ['id', 'username', 'resource', 'created_at', 'expires_at', 'uses', 'last_used_at'],
  order: 'desc',
};
