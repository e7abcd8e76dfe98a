/**
 * `/openapi.json` and the page that shows it (DS-190, DS-193): each for the caller who asks.
 */
import { PRIVATE } from '../headers.ts';
import { pageReply } from '../page-reply.ts';
import { docsPage } from '../pages/docs.tsx';
import { bodyReply } from '../reply.ts';
import type { Route } from '../route-table.ts';

/** `/openapi.json` and `/docs`. */
export const openApiRoutes: readonly Route[] = [
  {
    pattern: '/openapi.json',
    access: 'public',
    hasJsonErrors: true,
    cacheControl: PRIVATE,
    methods: {
      GET: async ({ services, caller }) => {
        const { json, etag } = await services.describeApi(caller);
        return bodyReply(json, 'application/json', { etag });
      },
    },
  },
  {
    pattern: '/docs',
    access: 'public',
    cacheControl: PRIVATE,
    methods: { GET: (context) => pageReply(context, docsPage, {}) },
  },
];
