/** @jsxImportSource @kitajs/html */
/** The text is made when the executable is built, and is the only thing here inserted as markup. */
import { Elysia } from 'elysia';
import type { OutlineEntry } from '../../docroot/kind.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import {
  findInGuide,
  GUIDE_CHAPTERS,
  guideAddress,
  guideChapters,
  type GuideHit,
} from './guide-text.ts';
import { pageReply } from '../page-reply.ts';
import { Article } from '../parts/article.tsx';
import { SearchBox } from '../parts/forms.tsx';
import type { Page } from '../frame.tsx';

export const guideRoutes = new Elysia({ name: 'guide' }).use(lifecycle);
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

interface ChapterLink {
  readonly title: string;
  readonly href: string;
  readonly isHere: boolean;
}

interface GuideView {
  readonly title: string;
  readonly isIndex: boolean;
  /** Sanitised like documents, with a heading of level 1. */
  readonly body: string;
  readonly outline: readonly OutlineEntry[];
  readonly chapters: readonly ChapterLink[];
  readonly previous: ChapterLink | null;
  readonly next: ChapterLink | null;
  /** `''`: no search. */
  readonly q: string;
  readonly hits: readonly GuideHit[] | null;
}

export const guidePage: Page<GuideView> = {
  name: 'guide',
  layout: 'wide',
  title: ({ title, hits }) => (hits === null ? title : 'Search the guide'),
  hasOwnHeading: () => true,
  styles: ['document.css', 'guide.css'],
  trail: ({ isIndex, hits }) =>
    isIndex && hits === null ? [] : [{ label: 'Guide', href: '/docs/guide' }],
  content: (view) => (
    <div class="guide">
      <nav class="chapters" aria-label="Chapters">
        <Find q={view.q} />
        <ol>
          {view.chapters.map(({ title, href, isHere }) => (
            <li>
              <a {...{ href }} aria-current={isHere ? 'page' : undefined} safe>
                {title}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      {view.hits === null ? <Chapter view={view} /> : <Hits view={view} />}
    </div>
  ),
};

function Find({ q }: { q: string }) {
  return (
    <form class="filter" method="get" action="/docs/guide" role="search">
      <SearchBox
        label="Search the guide"
        name="q"
        value={q}
        placeholder="Search the guide"
        data-key="g"
      />
    </form>
  );
}

function Chapter({ view }: { view: GuideView }) {
  return (
    <div class="document">
      <Article
        body={view.body}
        facts={[]}
        outline={view.isIndex ? [] : view.outline.filter(({ level }) => level === 2)}
      >
        <Neighbours view={view} />
      </Article>
    </div>
  );
}

function Neighbours({ view: { previous, next } }: { view: GuideView }) {
  return (
    <nav class="neighbours" aria-label="Previous and next chapter">
      {previous !== null && (
        <a rel="prev" href={previous.href}>
          <span class="fine">Previous</span>
          <span safe>{previous.title}</span>
        </a>
      )}
      {next !== null && (
        <a rel="next" href={next.href}>
          <span class="fine">Next</span>
          <span safe>{next.title}</span>
        </a>
      )}
    </nav>
  );
}

function Hits({ view: { hits, q } }: { view: GuideView }) {
  const found = hits ?? [];
  return (
    <section class="hits" aria-label="Sections found">
      <h1>Search the guide</h1>
      <p class="fine" role="status" safe>
        {found.length === 0
          ? `No section has all the words of “${q}”. Try fewer of them.`
          : `${found.length} ${found.length === 1 ? 'section' : 'sections'} for “${q}”`}
      </p>
      <ul class="plain-list">
        {found.map(({ chapter, title, href, snippet }) => (
          <li>
            <a {...{ href }} safe>
              {title}
            </a>{' '}
            <span class="fine" safe>
              {chapter}
            </span>
            <p>
              {snippet.map(({ text, isHit }) =>
                isHit ? <mark safe>{text}</mark> : <span safe>{text}</span>,
              )}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
