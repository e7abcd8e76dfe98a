import { Elysia } from 'elysia';
import { describeLanguage } from '../../operations/searches.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { pageReply } from '../page-reply.ts';
import { searchLanguagePage } from '../views/search-language.tsx';
import { door } from '../../http/door.ts';

export const searchLanguagePageRoute = new Elysia({ name: 'search-language' })
  .use(door)
  .get(
    '/docs/search-language',
    async ({ ask }) =>
      pageReply(ask, searchLanguagePage, await describeLanguage(ask.services, ask.user)),
    { checks: { access: 'user', cacheControl: PRIVATE } },
  );
