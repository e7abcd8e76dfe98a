/**
 * `GET /_svc/resources`: what the palette of the pages offers to jump to. Part of the pages, not of the API.
 */
import { jsonReply } from '../reply.ts';
import { PRIVATE } from '../headers.ts';
import { pageAddress } from '../page-address.ts';
import type { Route } from '../route-table.ts';

/** Name, file, type and address of the page of every resource the caller may read. */
export const paletteRoute: Route = {
  pattern: '/_svc/resources',
  access: 'user',
  hasJsonErrors: true,
  cacheControl: PRIVATE,
  methods: {
    GET: async ({ services, caller }) => {
      const { resources } = await services.listReadable(caller);
      return jsonReply(
        resources.map((resource) => ({
          name: resource.name,
          file: resource.rel,
          type: resource.type,
          href: pageAddress(resource),
        })),
      );
    },
  },
};
