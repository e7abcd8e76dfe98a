/**
 * The audit of a state database, without a server.
 */
import type { AuditNote } from '../../src/accounts/audit/audit.ts';
import type { Database } from '../../src/store/database.ts';

/** A stored entry. */
interface AuditEntry extends AuditNote {
  readonly id: number;
  readonly timestamp: string;
}

/** A page of the entries, newest first unless said otherwise, and how many there are. */
export async function listAudit(
  db: Database,
  page: { readonly limit: number; readonly offset: number; readonly order?: 'asc' | 'desc' },
): Promise<{ entries: AuditEntry[]; total: number }> {
  const count = await db.get<{ n: number }>('SELECT count(*) AS n FROM audit');
  const entries = await db.all<AuditEntry>(
    `SELECT id, timestamp, user_id AS "userId", action, resource, details, ip_address AS "ipAddress"
     FROM audit ORDER BY id ${page.order === 'asc' ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    [page.limit, page.offset],
  );
  return { entries, total: count?.n ?? 0 };
}
