/**
 * What a browser without script sees when an upload is refused: why, what would be right, and the form again.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';
import { UploadForm } from './landing.tsx';

/** A refusal as a person sees it. */
interface UploadRefusedView {
  /** The `detail` of the JSON answer. */
  readonly detail: string;
  /** What would be right. */
  readonly advice: string;
  /** Bytes a file may have; null for those who may not upload at all. */
  readonly limit: number | null;
  readonly requestId: string;
}

/** The answer to a refused form of the start page. */
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
      {limit === null ? '' : <UploadForm limit={limit} frame={frame} />}
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
