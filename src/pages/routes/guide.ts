/** One route for each chapter, so that a file of the folder called docs/guide/… keeps all other names. */
import { Elysia } from 'elysia';
import type { Context } from '../../http/context.ts';
import { findInGuide, GUIDE_CHAPTERS, guideAddress, guideChapters } from '../guide.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { pageReply } from '../page-reply.ts';
import { guidePage } from '../views/guide.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';

export const guideRoutes = new Elysia({ name: 'guide' }).use(door);
for (const name of ['', ...GUIDE_CHAPTERS]) {
  guideRoutes.get(guideAddress(name), ({ ask }) => chapterReply(ask, name), {
    checks: { access: 'user', cacheControl: PRIVATE },
  });
}

function chapterReply(context: Context, name: string): Reply {
  const chapters = guideChapters();
  const at = chapters.findIndex((chapter) => chapter.name === name);
  const q = name === '' ? (context.queryValue('q') ?? '').trim() : '';
  const links = chapters.map((one) => ({
    title: one.title,
    href: guideAddress(one.name),
    isHere: one.name === name,
  }));
  return pageReply(context, guidePage, {
    title: chapters[at]!.title,
    isIndex: name === '',
    body: chapters[at]!.body,
    outline: chapters[at]!.outline,
    chapters: links.slice(1),
    previous: links[at - 1] ?? null,
    next: links[at + 1] ?? null,
    q,
    hits: q === '' ? null : findInGuide(q),
  });
}
