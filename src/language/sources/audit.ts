import type { Database } from 'bun:sqlite';
import { SqlSource } from './sql-source.ts';

export function auditSource(db: Database): SqlSource {
  // Stored with milliseconds; shown with microseconds like all times.
  const time = `substr(timestamp, 1, 19) || '.' || substr(rtrim(substr(timestamp, 21), 'Z') || '000000', 1, 6) || 'Z'`;
  return new SqlSource({
    name: 'audit',
    db,
    from: 'audit',
    columns: [
      { name: 'id', type: 'int', sql: 'id', form: 'plain', isDiverse: true, isSortable: true },
      { name: 'timestamp', type: 'time', sql: time, form: 'plain', isDiverse: true },
      { name: 'user_id', type: 'int', sql: 'user_id', form: 'plain' },
      { name: 'action', type: 'text', sql: 'action', form: 'plain' },
      { name: 'resource', type: 'text', sql: 'resource', form: 'plain' },
      { name: 'details', type: 'text', sql: 'details', form: 'plain', isDiverse: true },
      { name: 'ip_address', type: 'text', sql: 'ip_address', form: 'plain' },
      { name: '_time', type: 'time', sql: time, form: 'plain', isHidden: true, isDiverse: true },
    ],
    orders: { forward: 'id', newest: 'audit.timestamp DESC, id DESC' },
    restriction: null,
    readableIndexes: null,
    hasWideIntegers: false,
  });
}
