import type { Migration } from '../migrate.ts';
import { accounts } from './0001-accounts.ts';
import { events } from './0004-events.ts';
import { auditChain } from './0005-audit-chain.ts';
import { namedReaders } from './0006-named-readers.ts';
import { keptReplies } from './0007-kept-replies.ts';
import { changes } from './0008-changes.ts';
import { findings } from './0009-findings.ts';
import { alerts } from './0010-alerts.ts';
import { versions } from './0011-versions.ts';
import { links } from './0012-links.ts';
import { secondFactors } from './0013-second-factors.ts';
import { feed } from './0014-feed.ts';
import { changeHooks } from './0015-change-hooks.ts';
import { searchViews } from './0017-search-views.ts';

export const migrations: readonly Migration[] = [
  accounts,
  events,
  auditChain,
  namedReaders,
  keptReplies,
  changes,
  findings,
  alerts,
  versions,
  links,
  secondFactors,
  feed,
  changeHooks,
  searchViews,
];
