/** @jsxImportSource @kitajs/html */
/**
 * For browsers without script.
 */
import type { UploadResult } from '../../operations/uploads.ts';
import { Size } from '../parts/values.tsx';
import type { Page } from './frame.tsx';

interface UploadedView extends UploadResult {
  /** Null: files of this kind are stored but not served. */
  readonly href: string | null;
  /** Why it cannot be read; null when it can. */
  readonly problem: string | null;
}

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
      {view.href === null && <p>Files of this kind are stored, but not shown.</p>}
      {view.problem !== null && (
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
