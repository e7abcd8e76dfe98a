/** @jsxImportSource @kitajs/html */
/**
 * The outline stands beside the text where there is room. The text comes from the allow list of the sanitiser and is
 * inserted as markup.
 */
import type { PropsWithChildren } from '@kitajs/html';
import type { OutlineEntry, RenderedDocument } from '../../docroot/kind.ts';
import { Facts } from './values.tsx';

function withHeadingAnchors(markup: string): string {
  return markup.replace(
    /(<h([1-6]) id="([^"]+)">)([^]*?)(<\/h\2>)/g,
    (_, start: string, level: string, id: string, text: string, end: string) => {
      const href = encodeURIComponent(id.replaceAll('&amp;', '&'));
      if (/<a[\s>]/.test(text) || level === '1') return start + text + end;
      return `${start}${text}<a class="anchor" href="#${href}" aria-label="Link to this section"></a>${end}`;
    },
  );
}

/** Shorter documents need none. */
const MIN_OUTLINE = 2;
/** Longer lists are searched, not scrolled. */
const MAX_OUTLINE = 500;
const LABEL = 'On this page';

interface ArticleProps extends Pick<RenderedDocument, 'body' | 'facts'> {
  readonly outline: readonly OutlineEntry[];
}

export function Article({ body, facts, outline, children }: PropsWithChildren<ArticleProps>) {
  const [heading = ''] = /^\s*<h1[\s>][^]*?<\/h1>/.exec(body) ?? [];
  return (
    <article class="prose">
      {(heading !== '' || facts.length > 0) && (
        <header>
          {heading as 'safe'}
          {facts.length > 0 && (
            <dl class="facts">
              <Facts facts={facts} />
            </dl>
          )}
        </header>
      )}
      <Outline entries={outline} />
      <div class="text">
        {withHeadingAnchors(body.slice(heading.length)) as 'safe'}
        {children}
      </div>
    </article>
  );
}

function Outline({ entries }: { entries: readonly OutlineEntry[] }) {
  if (entries.length < MIN_OUTLINE) return '';
  return (
    <nav class="outline" aria-label={LABEL}>
      <details>
        <summary safe>{LABEL}</summary>
      </details>
      <p aria-hidden="true" safe>
        {LABEL}
      </p>
      <ul>
        {entries.slice(0, MAX_OUTLINE).map(({ level, anchor, text }) => (
          <li class={`level-${level}`}>
            <a href={`#${encodeURIComponent(anchor)}`} safe>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
