/**
 * A large dataset that is being read for the first time: the page asks again by itself until the rows are there.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { sizeText } from '../../base/size-text.ts';
import { folderAddress, trailTo } from '../trail.ts';
import type { Page } from './frame.tsx';

/** A file that is being read. */
export interface ReadingView {
  /** Canonical name of the dataset. */
  readonly name: string;
  /** How messages call it. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
}

/** Stands in for the page of a dataset meanwhile. */
export const readingPage: Page<ReadingView> = {
  name: 'reading',
  layout: 'wide',
  title: ({ name }) => name.slice(name.lastIndexOf('/') + 1),
  trail: ({ name }) => trailTo(name),
  content: ({ name, file, size }) => (
    <section class="empty" role="status">
      <p safe>{`${file} (${sizeText(size)}) is being read.`}</p>
      <progress aria-label="The file is being read"></progress>
      <p>
        That is done once for each version of a file and takes some seconds for a million rows. The
        rows appear here as soon as they are there.
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
