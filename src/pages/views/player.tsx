/** @jsxImportSource @kitajs/html */
import { trailTo } from '../trail.ts';
import { Fact, Facts, Size } from '../parts/values.tsx';
import type { Page } from './frame.tsx';

interface PlayerView {
  readonly title: string;
  readonly name: string;
  readonly isVideo: boolean;
  /** Percent-encoded. */
  readonly source: string;
  readonly type: string;
  readonly hasCover: boolean;
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  readonly size: number;
  /** `2 of 7 in this folder`; `''` for the only one. */
  readonly position: string;
  readonly previous: PlayerLink | null;
  readonly next: PlayerLink | null;
}

export interface PlayerLink {
  readonly href: string;
  readonly label: string;
}

export const playerPage: Page<PlayerView> = {
  name: 'player',
  layout: 'wide',
  title: ({ title }) => title,
  styles: ['media.css'],
  trail: ({ name }) => trailTo(name),
  content: (view) => (
    <div class="player">
      <div class="stage">
        <Player view={view} />
        <Ways view={view} />
      </div>
      <section class="panel" aria-label="About this file">
        <dl class="facts">
          <Facts facts={view.facts} />
          <Fact name="Size">
            <Size bytes={view.size} />
          </Fact>
        </dl>
        <p class="fine downloads">
          <a href={`${view.source}?download=true`} download="">
            Download
          </a>
          <a href="/ui/media">All media</a>
        </p>
      </section>
    </div>
  ),
};

function Ways({ view: { previous, next, position } }: { view: PlayerView }) {
  if (previous === null && next === null) return '';
  return (
    <nav class="ways" aria-label="In this folder">
      {previous === null ? (
        <span></span>
      ) : (
        <a class="button quiet" rel="prev" href={previous.href} data-key="p">
          <span aria-hidden="true">←</span>
          <span class="visually-hidden">Previous: </span>
          <span safe>{previous.label}</span>
        </a>
      )}
      <span class="fine" safe>
        {position}
      </span>
      {next === null ? (
        <span></span>
      ) : (
        <a class="button quiet" rel="next" href={next.href} data-key="n">
          <span class="visually-hidden">Next: </span>
          <span safe>{next.label}</span>
          <span aria-hidden="true">→</span>
        </a>
      )}
    </nav>
  );
}

/** Loads length and first picture, not the whole file. The JSX types lack the attribute. */
const PRELOAD = { preload: 'metadata' };

function Player({ view }: { view: PlayerView }) {
  const cover = `${view.source}?thumbnail=true`;
  if (view.isVideo) {
    return (
      <video
        controls
        {...PRELOAD}
        src={view.source}
        poster={view.hasCover ? cover : undefined}
        aria-label={view.title}
      ></video>
    );
  }
  return (
    <>
      {view.hasCover ? (
        <img class="cover" src={cover} alt="" width="320" height="320" />
      ) : (
        <div class="cover" aria-hidden="true">
          <span class="glyph sound"></span>
        </div>
      )}
      <audio controls="" {...PRELOAD} src={view.source} aria-label={view.title}></audio>
    </>
  );
}
