/** @jsxImportSource @kitajs/html */
/**
 * For browsers without script.
 */
import type { Page } from './frame.tsx';
import { UploadForm } from './landing.tsx';

interface UploadRefusedView {
  /** The `detail` of the JSON answer. */
  readonly detail: string;
  readonly advice: string;
  /** Bytes a file may have; null for callers who may not upload. */
  readonly limit: number | null;
  readonly requestId: string;
}

export const uploadRefusedPage: Page<UploadRefusedView> = {
  name: 'upload-refused',
  layout: 'card',
  title: () => 'The file was not stored',
  styles: ['landing.css'],
  trail: () => [{ label: 'Resources', href: '/' }],
  content: ({ detail, advice, limit, requestId }, frame) => (
    <>
      <p class="problem" role="alert" safe>
        {detail}
      </p>
      <p safe>{advice}</p>
      {limit !== null && <UploadForm limit={limit} frame={frame} />}
      <p class="actions">
        <a class="button quiet" href="/">
          Back to the resources
        </a>
      </p>
      <p class="fine">
        Request <code safe>{requestId}</code>
      </p>
    </>
  ),
};
