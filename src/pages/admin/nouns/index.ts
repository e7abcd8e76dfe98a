import { apiKeys } from './api-keys.tsx';
import { audit } from './audit.tsx';
import { cache } from './cache.tsx';
import { deliveries } from './deliveries.tsx';
import { events } from './events.tsx';
import { explain } from './explain.tsx';
import { group } from './group.tsx';
import { groups } from './groups.tsx';
import { links } from './links.tsx';
import { locks } from './locks.tsx';
import { overview } from './overview.tsx';
import { permissions } from './permissions.tsx';
import { resources } from './resources.tsx';
import { sessions } from './sessions.tsx';
import { share } from './share.tsx';
import { tokens } from './tokens.tsx';
import { user } from './user.tsx';
import { users } from './users.tsx';

export const adminPages = [
  overview,
  users,
  user,
  groups,
  group,
  share,
  permissions,
  explain,
  apiKeys,
  tokens,
  sessions,
  audit,
  resources,
  events,
  links,
  deliveries,
  locks,
  cache,
] as const;
