/**
 * `/ui/media`, the gallery (DS-185). The files themselves have no route of their own; resources.ts serves them.
 */
import { Type } from '@sinclair/typebox';
import { PRIVATE } from '../headers.ts';
import { galleryReply } from '../media-page.ts';
import type { Route } from '../route-table.ts';

/** `/ui/media`; open to everybody, because it sends those who are not signed in to do so. */
export const mediaRoute: Route = {
  pattern: '/ui/media',
  access: 'public',
  cacheControl: PRIVATE,
  describes: {
    GET: {
      summary: 'Show the media files you may read',
      tag: 'system',
      parameters: [
        {
          name: 'filter',
          in: 'query',
          description: 'Part of the names to show',
          schema: Type.String(),
        },
        {
          name: 'offset',
          in: 'query',
          description: 'Files to leave out at the start',
          schema: Type.Integer({ minimum: 0, default: 0 }),
        },
      ],
      answers: { 200: { description: 'The gallery', mediaType: 'text/html', schema: null } },
    },
  },
  methods: { GET: (context) => galleryReply(context.services, context) },
};
