/**
 * The player of one media file (DS-184): the browser's own controls, what the file says about itself, the way on.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';

/** What the player shows. */
export interface PlayerView {
  readonly title: string;
  readonly isVideo: boolean;
  /** Path of the media file, percent-encoded. */
  readonly source: string;
  readonly type: string;
  readonly hasCover: boolean;
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  readonly previous: { readonly href: string; readonly label: string } | null;
  readonly next: { readonly href: string; readonly label: string } | null;
}

/** The page of a media file. */
export const playerPage: Page<PlayerView> = {
  name: 'player',
  layout: 'wide',
  title: ({ title }) => title,
  content: (view) => (
    <div class="player">
      <Player view={view} />
      <dl class="facts">
        {view.facts.map(({ name, text }) => (
          <div>
            <dt safe>{name}</dt>
            <dd safe>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="fine downloads">
        <a href={`${view.source}?download=true`} download="">
          Download
        </a>
        <a href="/ui/media">All media</a>
        {view.previous === null ? (
          ''
        ) : (
          <a rel="prev" href={view.previous.href} safe>
            {`← ${view.previous.label}`}
          </a>
        )}
        {view.next === null ? (
          ''
        ) : (
          <a rel="next" href={view.next.href} safe>
            {`${view.next.label} →`}
          </a>
        )}
      </p>
    </div>
  ),
};

/** Length and first picture, not the whole file. The types of the tags do not know the attribute. */
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
      {view.hasCover ? <img class="cover" src={cover} alt="" width="240" height="240" /> : ''}
      <audio controls="" {...PRELOAD} src={view.source} aria-label={view.title}></audio>
    </>
  );
}
