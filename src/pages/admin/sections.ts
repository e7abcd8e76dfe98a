/** Prefix of all pages but the first; directly below `/admin` are the routes for programs. */
export const ADMIN_PAGES = '/admin/ui';

/** In the order of the menu. */
export const ADMIN_SECTIONS = [
  { label: 'Users', href: `${ADMIN_PAGES}/users` },
  { label: 'Groups', href: `${ADMIN_PAGES}/groups` },
  { label: 'Give access', href: `${ADMIN_PAGES}/share` },
  { label: 'Links', href: `${ADMIN_PAGES}/links` },
  { label: 'Permissions', href: `${ADMIN_PAGES}/permissions` },
  { label: 'Who may do what?', href: `${ADMIN_PAGES}/explain` },
  { label: 'API keys', href: `${ADMIN_PAGES}/api-keys` },
  { label: 'Tokens', href: `${ADMIN_PAGES}/tokens` },
  { label: 'Sessions', href: `${ADMIN_PAGES}/sessions` },
  { label: 'Audit', href: `${ADMIN_PAGES}/audit` },
  { label: 'Resources', href: `${ADMIN_PAGES}/resources` },
  { label: 'Events', href: `${ADMIN_PAGES}/events` },
  { label: 'Deliveries', href: `${ADMIN_PAGES}/deliveries` },
  { label: 'Locks', href: `${ADMIN_PAGES}/locks` },
  { label: 'Cache', href: `${ADMIN_PAGES}/cache` },
] as const;
