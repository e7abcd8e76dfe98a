import type { Migration } from '../migrate.ts';
import { accounts } from './0001-accounts.ts';
import { events } from './0004-events.ts';
import { auditChain } from './0005-audit-chain.ts';
import { namedReaders } from './0006-named-readers.ts';

export const migrations: readonly Migration[] = [accounts, events, auditChain, namedReaders];
