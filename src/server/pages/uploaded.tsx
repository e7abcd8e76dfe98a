/**
 * What a browser without script sees after an upload.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { UploadResult } from '../../operations/uploads.ts';
import { Size } from '../page-parts/size.tsx';
import type { Page } from './frame.tsx';

/** A stored file and where it answers. */
interface UploadedView extends UploadResult {
  /** Null: files of this kind are stored, not served. */
  readonly href: string | null;
  /** Why it cannot be read; null when it can. */
  readonly problem: string | null;
}

/** The result of an upload. */
export const uploadedPage: Page<UploadedView> = {
  name: 'uploaded',
  layout: 'card',
  title: ({ operation }) => (operation === 'created' ? 'File uploaded' : 'File replaced'),
  content: (view) => (
    <>
      <p>
        {view.href === null ? (
          <strong safe>{view.path}</strong>
        ) : (
          <a href={view.href} safe>
            {view.path}
          </a>
        )}
      </p>
      <p class="fine">
        <Size bytes={view.size} />, <span safe>{view.mime_type}</span>
      </p>
      {view.href === null ? <p>Files of this kind are stored, but not shown.</p> : ''}
      {view.problem === null ? (
        ''
      ) : (
        <p class="problem" safe>
          {view.problem}
        </p>
      )}
      <p class="fine">
        SHA-256 <code safe>{view.checksum}</code>
      </p>
      <p class="actions">
        <a class="button" href="/">
          Back to the resources
        </a>
      </p>
    </>
  ),
};
