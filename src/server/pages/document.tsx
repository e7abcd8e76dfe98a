/**
 * A document in the frame (DS-159): the way to it, what can be done with it, its outline, its facts, its text; or its source.
 *
 * The text comes from the allow list of its kind and is the one thing here that enters as markup.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { OutlineEntry, RenderedDocument } from '../../docroot/kind.ts';
import { withHeadingAnchors } from '../heading-anchors.ts';
import { trailTo } from '../trail.ts';
import type { Page } from './frame.tsx';
import { UtcTime } from '../page-parts/utc-time.tsx';

/** A document with a title and where it is. */
export interface DocumentView extends RenderedDocument {
  readonly title: string;
  readonly rel: string;
  /** When its file was written last. */
  readonly changedAt: string;
  /** The text as it was written, to be shown instead of the page made from it; null: the page. */
  readonly source: string | null;
}

/** Shorter documents are seen at a glance. */
const MIN_OUTLINE = 3;
/** Longer ones are searched, not scrolled. */
const MAX_OUTLINE = 500;

/** The page of a document. */
export const documentPage: Page<DocumentView> = {
  name: 'document',
  layout: 'wide',
  title: ({ title }) => title,
  hasOwnHeading: ({ hasHeading, source }) => hasHeading && source === null,
  styles: ['document.css'],
  trail: ({ rel }) => trailTo(rel),
  content: (view) => (
    <div class="document">
      <Place view={view} />
      {view.source === null ? (
        <>
          <Outline entries={view.outline.filter(({ level }) => level <= 3)} />
          <article class="prose">
            <Text view={view} />
          </article>
        </>
      ) : (
        <pre class="source" tabindex="0">
          <code safe>{view.source}</code>
        </pre>
      )}
    </div>
  ),
};

/** What the document says about itself stands below its heading, where it has one at its beginning. */
function Text({ view: { body, facts } }: { view: DocumentView }) {
  const [heading = ''] = /^\s*<h1[\s>][^]*?<\/h1>/.exec(body) ?? [];
  return (
    <>
      {heading as 'safe'}
      <Facts facts={facts} />
      {withHeadingAnchors(body.slice(heading.length)) as 'safe'}
    </>
  );
}

function Place({ view: { rel, changedAt, source } }: { view: DocumentView }) {
  return (
    <p class="fine place">
      <span>
        <span safe>{rel.split('/').at(-1) ?? ''}</span>
        {' · last changed '}
        <UtcTime at={changedAt} />
      </span>
      <span class="views">
        <a href="?" aria-current={source === null ? 'true' : undefined}>
          Page
        </a>
        <a href="?source=true" aria-current={source === null ? undefined : 'true'}>
          Source
        </a>
      </span>
      <a href="?download=true" download="">
        Download
      </a>
    </p>
  );
}

/** The headings of a document as a list of links; nothing for a short one. */
export function Outline({ entries }: { entries: readonly OutlineEntry[] }) {
  if (entries.length < MIN_OUTLINE) return '';
  return (
    <nav class="outline" aria-label="On this page">
      <details open>
        <summary>On this page</summary>
        <ul>
          {entries.slice(0, MAX_OUTLINE).map(({ level, anchor, text }) => (
            <li class={`level-${level}`}>
              <a href={`#${encodeURIComponent(anchor)}`} safe>
                {text}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}

function Facts({ facts }: { facts: DocumentView['facts'] }) {
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
