import { Elysia } from 'elysia';
import { jsonReply } from '../http/reply/reply.ts';
import { PRIVATE } from '../http/reply/headers.ts';
import { pageAddress } from '../docroot/registry/addresses.ts';
import { kindName } from '../api/kind-names.ts';
import { ADMIN_SECTIONS } from './admin/sections.ts';
import { lifecycle } from '../http/lifecycle.ts';

const sections = ADMIN_SECTIONS.map(({ label, href }) => ({
  name: label,
  file: '',
  kind: 'administration',
  href,
}));

export const paletteRoute = new Elysia({ name: 'palette' }).use(lifecycle).get(
  '/_svc/resources',
  async ({ ask: { services, caller } }) => {
    const { resources } = await services.listReadable(caller);
    const published = resources.map((resource) => ({
      name: resource.name,
      file: resource.rel,
      kind: kindName(resource),
      href: pageAddress(resource, resource.name),
    }));
    return jsonReply(caller?.isSuperuser === true ? [...sections, ...published] : published);
  },
  { checks: { access: 'user', hasJsonErrors: true, cacheControl: PRIVATE } },
);
