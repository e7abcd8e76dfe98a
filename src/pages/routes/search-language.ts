import { describeLanguage } from '../../operations/searches.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { pageReply } from '../../http/reply/page-reply.ts';
import { searchLanguagePage } from '../views/search-language.tsx';
import type { Route } from '../../http/route-table.ts';

export const searchLanguagePageRoute: Route = {
  pattern: '/docs/search-language',
  access: 'user',
  cacheControl: PRIVATE,
  methods: {
    GET: async (context) =>
      pageReply(
        context,
        searchLanguagePage,
        await describeLanguage(context.services, context.user),
      ),
  },
};
