/**
 * The text of a document with its outline: beside it where there is room, else folded up below its heading.
 *
 * The text comes from an allow list and enters as markup. The list of headings stands here once: a wide page shows it without
 * its fold, a narrow one shows it when the fold is opened, both without script.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { PropsWithChildren } from '@kitajs/html';
import type { OutlineEntry, RenderedDocument } from '../../docroot/kind.ts';
import { withHeadingAnchors } from '../heading-anchors.ts';

/** Shorter documents are seen at a glance. */
const MIN_OUTLINE = 2;
/** Longer ones are searched, not scrolled. */
const MAX_OUTLINE = 500;
const LABEL = 'On this page';

interface ArticleProps extends Pick<RenderedDocument, 'body' | 'facts'> {
  /** The headings to list; few are not listed. */
  readonly outline: readonly OutlineEntry[];
}

/** Heading, what the document says about itself, outline, text; then the children. */
export function Article({ body, facts, outline, children }: PropsWithChildren<ArticleProps>) {
  const [heading = ''] = /^\s*<h1[\s>][^]*?<\/h1>/.exec(body) ?? [];
  return (
    <article class="prose">
      {heading === '' && facts.length === 0 ? (
        ''
      ) : (
        <header>
          {heading as 'safe'}
          <Facts facts={facts} />
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

function Facts({ facts }: Pick<RenderedDocument, 'facts'>) {
  if (facts.length === 0) return '';
  return (
    <dl class="facts">
      {facts.map(({ name, text }) => (
        <div>
          <dt safe>{name}</dt>
          <dd safe>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
