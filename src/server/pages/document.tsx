/**
 * A rendered document in the frame (DS-159): the way to it, its outline, its facts, its text.
 *
 * The text comes from the allow list of its kind and is the one thing here that enters as markup.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { OutlineEntry, RenderedDocument } from '../../docroot/kind.ts';
import type { Page } from './frame.tsx';

/** A document with a title and where it is. */
export interface DocumentView extends RenderedDocument {
  readonly title: string;
  readonly rel: string;
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
  hasOwnHeading: ({ hasHeading }) => hasHeading,
  content: (view) => (
    <div class="document">
      <p class="fine place">
        <span safe>{view.rel.split('/').join(' / ')}</span>
        <a href="?raw=true">Source</a>
        <a href="?download=true" download="">
          Download
        </a>
      </p>
      <Outline entries={view.outline.filter(({ level }) => level <= 3)} />
      <article class="prose">
        <Facts facts={view.facts} />
        {view.body as 'safe'}
      </article>
    </div>
  ),
};

function Outline({ entries }: { entries: readonly OutlineEntry[] }) {
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
