/**
 * Audit entries are linked by hashes (see accounts/audit/audit-chain.ts).
 *
 * `actor_id` keeps the actor when `user_id` becomes null with the user; it is never shown. Older entries have no
 * hash; `audit_unchained` is the id of the last one of them.
 */
import type { Migration } from '../migrate.ts';

export const auditChain: Migration = {
  version: 5,
  name: '0005-audit-chain',
  statements: [
    'ALTER TABLE audit ADD COLUMN actor_id INTEGER',
    'ALTER TABLE audit ADD COLUMN hash TEXT',
    `INSERT INTO settings (name, value)
     SELECT 'audit_unchained', CAST(coalesce(max(id), 0) AS TEXT) FROM audit`,
  ],
};
