/**
 * The form that uploads a file: on the start page, and again where an upload was refused.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { sizeText } from '../../base/size-text.ts';
import type { FrameView } from './frame.tsx';
import { CsrfField } from './frame.tsx';

/** The upload form. Works as it stands; the script of the start page adds the name, the progress and a way to stop. */
export function UploadForm({ limit, frame }: { limit: number; frame: FrameView }) {
  return (
    <section class="panel upload">
      <h2>Upload a file</h2>
      <form method="post" action="/api/uploads" enctype="multipart/form-data" data-limit={limit}>
        <CsrfField frame={frame} />
        <label>
          File
          <input type="file" name="file" required data-key="u" aria-label="File to send" />
        </label>
        <label>
          Save as
          <input name="filename" required maxlength="255" autocomplete="off" spellcheck="false" />
        </label>
        <p class="fine">
          <span safe>{`Up to ${sizeText(limit)}.`}</span>{' '}
          <span class="hint">You can drop it anywhere on this card.</span>
        </p>
        <p class="actions">
          <button type="submit">Upload</button>
          <button type="button" class="quiet" hidden>
            Stop
          </button>
        </p>
        <progress max="1" value="0" aria-label="Progress of the upload" hidden></progress>
        <p role="status"></p>
      </form>
    </section>
  );
}
