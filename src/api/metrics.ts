/** For superusers, and for any active API key, which is what a scraper holds. */
import { AppError } from '../base/errors.ts';
import { bodyReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';

export const metricsRoute: Route = {
  pattern: '/metrics',
  access: 'user',
  hasJsonErrors: true,
  describes: {
    GET: {
      summary: 'Read the metrics in the text format of Prometheus',
      tag: 'system',
      answers: { 200: { description: 'The metrics', mediaType: 'text/plain', schema: null } },
      errors: [403],
    },
  },
  isListedFor: ({ caller }) => caller !== null && (caller.isSuperuser || caller.apiKeyId !== null),
  methods: {
    GET: ({ user, services }) => {
      if (!user.isSuperuser && user.apiKeyId === null) {
        throw new AppError('permission-denied', 'Superuser privileges required');
      }
      return bodyReply(services.metrics.text(), 'text/plain; version=0.0.4; charset=utf-8');
    },
  },
};
