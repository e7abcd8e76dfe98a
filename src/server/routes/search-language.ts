import { describeLanguage } from '../../operations/searches.ts';
import { PRIVATE } from '../headers.ts';
import { pageReply } from '../page-reply.ts';
import { searchLanguagePage } from '../pages/search-language.tsx';
import type { Route } from '../route-table.ts';

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
