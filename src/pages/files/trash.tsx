/** @jsxImportSource @kitajs/html */
/** The trash, for who could have deleted what lies in it. */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { changerOf, trashModel, trashView } from '../../api/files/files.ts';
import type { TrashEntry } from '../../docroot/moves/trash.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { listTrash } from '../../operations/files/file-changes.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { PostButton } from '../parts/forms.tsx';
import { Size, UtcTime } from '../parts/values.tsx';

interface TrashPageView {
  readonly entries: readonly TrashEntry[];
  readonly days: number;
  readonly isReadOnly: boolean;
}

const VARY = { Vary: 'Accept' };
/** The rest is in the JSON. */
const MAX_SHOWN = 500;

export const trashRoute = new Elysia({ name: 'trash' }).use(lifecycle).get(
  '/_svc/trash',
  async ({ ask }) => {
    const entries = await listTrash(changerOf(ask));
    if (!ask.wantsHtml) return jsonReply(entries.map(trashView), { headers: VARY });
    const { files, readonly } = ask.services.config;
    const view = {
      entries: entries.slice(0, MAX_SHOWN),
      days: files.trash_days,
      isReadOnly: readonly || !files.changes,
    };
    return pageReply(ask, trashPage, view, { headers: VARY });
  },
  {
    checks: { access: 'user', decidesReadOnly: true },
    describes: {
      summary: 'List the trash',
      description: 'What you may restore, newest first.',
      tag: 'uploads',
      answers: {
        200: { description: 'Entries', schema: Type.Array(trashModel), hasPage: true },
      },
    },
  },
);

export const trashPage: Page<TrashPageView> = {
  name: 'trash',
  layout: 'wide',
  title: () => 'Trash',
  trail: () => [{ label: 'Resources', href: '/' }],
  content: (view, frame) =>
    view.entries.length === 0 ? (
      <p class="empty">
        Nothing that you may put back. <a href="/">Show all resources</a>
      </p>
    ) : (
      <>
        <p class="fine">What is deleted stays here for {view.days} days, while there is room.</p>
        <div class="scroll" tabindex="0" role="region" aria-label="Deleted files and folders">
          <table>
            <thead>
              <tr>
                <th scope="col">Where it was</th>
                <th scope="col">Size</th>
                <th scope="col">Deleted</th>
                <th scope="col">By</th>
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {view.entries.map((entry) => (
                <Line entry={entry} isReadOnly={view.isReadOnly} frame={frame} />
              ))}
            </tbody>
          </table>
        </div>
      </>
    ),
};

function Line({
  entry: { id, rel, isFolder, bytes, files, deletedAt, deletedBy },
  isReadOnly,
  frame,
}: {
  entry: TrashEntry;
  isReadOnly: boolean;
  frame: FrameView;
}) {
  return (
    <tr>
      <td safe>{isFolder ? `${rel}/ (${files} ${files === 1 ? 'file' : 'files'})` : rel}</td>
      <td>
        <Size bytes={bytes} />
      </td>
      <td>
        <UtcTime at={deletedAt} />
      </td>
      <td safe>{deletedBy}</td>
      <td>
        {!isReadOnly && (
          <PostButton
            frame={frame}
            to={`/_svc/trash/${id}`}
            label="Put back"
            name={`Put back ${rel}`}
          />
        )}
      </td>
    </tr>
  );
}
