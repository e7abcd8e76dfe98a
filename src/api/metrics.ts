/** For superusers, and for any active API key, which is what a scraper holds. */
import { Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import { bodyReply } from '../http/reply/reply.ts';
import type { Viewer } from '../http/operation-description.ts';
import { door } from '../http/door.ts';

export const metricsRoute = new Elysia({ name: 'metrics' }).use(door).get(
  '/metrics',
  ({ ask: { user, services } }) => {
    if (!user.isSuperuser && user.apiKeyId === null) {
      throw new AppError('permission-denied', 'Superuser privileges required');
    }
    return bodyReply(services.metrics.text(), 'text/plain; version=0.0.4; charset=utf-8');
  },
  {
    checks: {
      access: 'user',
      hasJsonErrors: true,
      isListedFor: ({ caller }: Viewer) =>
        caller !== null && (caller.isSuperuser || caller.apiKeyId !== null),
    },
    describes: {
      summary: 'Read the metrics in the text format of Prometheus',
      tag: 'system',
      answers: { 200: { description: 'The metrics', mediaType: 'text/plain', schema: null } },
      errors: [403],
    },
  },
);
