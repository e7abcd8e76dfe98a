/** The gallery; resources.ts serves the files themselves. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { formatParameter } from '../../http/reply/list-file.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { galleryReply } from '../media-page.ts';
import type { Viewer } from '../../http/operation-description.ts';
import { door } from '../../http/door.ts';

/** Public, so that it can redirect visitors to the sign-in. */
export const mediaRoute = new Elysia({ name: 'media' })
  .use(door)
  .get('/ui/media', ({ ask }) => galleryReply(ask.services, ask), {
    checks: {
      access: 'public',
      isListedFor: ({ caller, readsMedia }: Viewer) => readsMedia || caller?.isSuperuser === true,
      cacheControl: PRIVATE,
    },
    describes: {
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
          name: 'type',
          in: 'query',
          description: 'Only sound, or only films',
          schema: Type.Union([Type.Literal('audio'), Type.Literal('video')]),
        },
        {
          name: 'sort',
          in: 'query',
          description: 'By name, the last changed first, or the largest first',
          schema: Type.Union([Type.Literal('name'), Type.Literal('changed'), Type.Literal('size')]),
        },
        {
          name: 'offset',
          in: 'query',
          description: 'Files to leave out at the start',
          schema: Type.Integer({ minimum: 0, default: 0 }),
        },
        formatParameter,
      ],
      answers: {
        200: { description: 'The gallery', mediaType: 'text/html', schema: null },
        302: { description: 'To the login, for who is not signed in', schema: null },
      },
      errors: [403],
    },
  });
