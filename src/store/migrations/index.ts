/**
 * Every migration of the state database, in order. A new one is one more line.
 */
import type { Migration } from '../migrate.ts';
import { accounts } from './0001-accounts.ts';
import { events } from './0004-events.ts';
import { auditChain } from './0005-audit-chain.ts';
import { namedReaders } from './0006-named-readers.ts';

/** Steps from the empty database to the newest schema this executable knows. */
export const migrations: readonly Migration[] = [accounts, events, auditChain, namedReaders];
