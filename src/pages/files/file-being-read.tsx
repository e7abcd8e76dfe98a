/** @jsxImportSource @kitajs/html */
/** Reloads itself until the rows are there. */
import type { ReadProgress } from '../../tables/copy/read-progress.ts';
import { folderAddress, trailTo } from '../addresses.ts';
import { Size } from '../parts/values.tsx';
import type { Page } from '../frame.tsx';

interface ReadingView {
  readonly name: string;
  readonly file: string;
  readonly size: number;
  /** Null when unknown. */
  readonly progress: ReadProgress | null;
}

export const readingPage: Page<ReadingView> = {
  name: 'reading',
  layout: 'wide',
  title: ({ name }) => name.slice(name.lastIndexOf('/') + 1),
  trail: ({ name }) => trailTo(name),
  content: ({ name, file, size, progress }) => (
    <section class="empty" role="status">
      <p>
        <span safe>{file}</span> (<Size bytes={size} />) is being read.
      </p>
      <progress
        aria-label="The file is being read"
        max={progress === null ? undefined : String(progress.size)}
        value={progress === null ? undefined : String(progress.bytes)}
      ></progress>
      <p class="fine">
        <Progress progress={progress} />
      </p>
      <p>
        That is done once for each version of a file and takes some seconds for a million rows. The
        rows appear here as soon as they are there. Whoever does not wait finds them later: the
        reading goes on.
      </p>
      <p>
        <a
          class="button quiet"
          href={folderAddress(name.slice(0, Math.max(0, name.lastIndexOf('/'))))}
        >
          Do not wait
        </a>
      </p>
    </section>
  ),
};

function Progress({ progress }: { progress: ReadProgress | null }) {
  if (progress === null) return <>It has just begun.</>;
  const { bytes, size, pass } = progress;
  const again = pass > 1 ? ', for the second time: a later row changed the type of a column' : '';
  return (
    <>
      <Size bytes={bytes} /> of <Size bytes={size} /> read<span safe>{again}</span>
    </>
  );
}
