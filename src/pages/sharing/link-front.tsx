/** @jsxImportSource @kitajs/html */
/** What answers at `/s/<secret>/` itself: the password, the files of a folder, or the way to the one file. */
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { pageAddress, pathsOf } from '../../docroot/registry/addresses.ts';
import { encodePath } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { deadLink, isFollowUp, unlock } from '../../http/hooks/link.ts';
import { LINK_FRONT } from '../../http/hooks/request-target.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { emptyReply, jsonReply, redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  checkLinkPassword,
  findLiveLink,
  noteOpening,
  openedFiles,
} from '../../operations/accounts/link-use.ts';
import { uploadFolder, uploadThroughLink } from '../../operations/accounts/link-uploads.ts';
import type { FoundLink } from '../../accounts/rights/links.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { fieldsOf } from '../files/uploads.tsx';
import type { Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { Size, UtcTime } from '../parts/values.tsx';

const VARY = { Vary: 'Accept' };

const checks = { access: 'public', takesLinks: true, isExemptFromReadOnly: true } as const;

export const linkFrontRoute = new Elysia({ name: 'link-front' })
  .use(lifecycle)
  .get(LINK_FRONT, ({ ask }) => front(ask), { checks })
  .post(LINK_FRONT, ({ ask }) => take(ask), { checks });

async function requireLink({ linkSecret, services }: Context): Promise<FoundLink> {
  if (linkSecret === null) throw new AppError('not-found', 'Not Found');
  const found = await findLiveLink(services, linkSecret);
  if (found === null) throw deadLink();
  return found;
}

async function front(context: Context): Promise<Reply> {
  const { link } = await requireLink(context);
  const { caller, origin, services, wantsHtml } = context;
  if (caller === null) return askPassword(context, null);
  if (link.kind === 'upload') return askFile(context, caller, {});
  const files = await openedFiles(services, caller);
  if (files.length === 0) throw deadLink();
  const isFolder = link.view === null && /(?:^|\/)\*$/.test(link.resource);
  if (wantsHtml && !isFolder) {
    return emptyReply(302, { Location: placeOf(files[0]!), ...VARY });
  }
  if (!isFollowUp(context)) noteOpening(services, caller, origin);
  const { kind, expiresAt } = link;
  const folder = isFolder ? link.resource.slice(0, -1) : '';
  if (wantsHtml)
    return pageReply(context, filesPage, viewOf(context, files, folder), { headers: VARY });
  const listed = files.map((file) => ({
    name: file.canonical.slice(folder.length),
    address: pathsOf(file, encodePath(file.canonical))[0]! + (file.family === 'dataset' ? '/' : ''),
  }));
  return jsonReply({ kind, expires_at: expiresAt, files: listed }, { headers: VARY });
}

function placeOf(file: Resource): string {
  return pageAddress(file, file.canonical);
}

async function take(context: Context): Promise<Reply> {
  const found = await requireLink(context);
  const { caller, origin, services } = context;
  if (caller !== null && found.link.kind === 'upload') return receive(context, caller);
  if (found.link.passwordHash === null) throw new AppError('not-found', 'Not Found');
  const fields = await context.form();
  const isRight = await checkLinkPassword(services, found, fields?.get('password') ?? '', origin);
  if (!isRight) return askPassword(context, 'That is not the password of this link.');
  unlock(context, found.link);
  return redirectReply('/', 303);
}

function askPassword(context: Context, problem: string | null): Reply {
  if (!context.wantsHtml) throw new AppError('not-authenticated', 'This link has a password');
  return pageReply(context, passwordPage, { problem }, { status: 401, headers: VARY });
}

interface UploadState {
  readonly received?: string;
  readonly error?: AppError;
}

async function askFile(
  context: Context,
  caller: Principal,
  { received, error }: UploadState,
): Promise<Reply> {
  const { origin, services, wantsHtml } = context;
  if ((await uploadFolder(services, caller)) === null) throw deadLink();
  if (!isFollowUp(context)) noteOpening(services, caller, origin);
  const maxBytes = services.config.upload.max_size_bytes;
  if (!wantsHtml) return jsonReply({ kind: 'upload', max_file_bytes: maxBytes }, { headers: VARY });
  const view = { maxBytes, received: received ?? null, problem: error?.message ?? null };
  return pageReply(context, uploadPage, view, {
    status: error?.status ?? (received === undefined ? 200 : 201),
    headers: { ...error?.headers, ...VARY },
  });
}

async function receive(context: Context, caller: Principal): Promise<Reply> {
  const { origin, request, services, wantsHtml } = context;
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  const order = {
    bytes: Number.isSafeInteger(length) ? length : null,
    requireStanding: () => context.requireStanding(),
  };
  try {
    const received = await uploadThroughLink(services, caller, origin, fieldsOf(context), order);
    if (!wantsHtml) return jsonReply(received, { status: 201, headers: VARY });
    return await askFile(context, caller, { received: received.filename });
  } catch (error) {
    const isShown = error instanceof AppError && error.status < 500 && error.status !== 401;
    if (!isShown || !wantsHtml) throw error;
    return askFile(context, caller, { error });
  }
}

interface UploadView {
  readonly maxBytes: number;
  readonly received: string | null;
  readonly problem: string | null;
}

export const uploadPage: Page<UploadView> = {
  name: 'link-upload',
  layout: 'card',
  title: () => 'Send a file',
  content: ({ maxBytes, received, problem }, frame) => (
    <>
      <Problem text={problem} />
      <Notice text={received === null ? null : `${received} was received. Thank you.`} />
      <PostForm class="stack" frame={frame} to="/" enctype="multipart/form-data">
        <label>
          {received === null ? 'File' : 'Another file'}
          <input name="file" type="file" required />
        </label>
        <button type="submit">Send</button>
      </PostForm>
      <p class="fine">
        Up to <Size bytes={maxBytes} />. Only whoever sent you the link sees what arrives; it
        replaces nothing.
      </p>
    </>
  ),
};

interface PasswordView {
  readonly problem: string | null;
}

export const passwordPage: Page<PasswordView> = {
  name: 'link-password',
  layout: 'card',
  title: () => 'This link has a password',
  content: ({ problem }, frame) => (
    <>
      <p>Whoever sent you the link can tell you its password.</p>
      <Problem text={problem} />
      <PostForm class="stack" frame={frame} to="/">
        <label>
          Password
          <input name="password" type="password" autocomplete="off" autofocus required />
        </label>
        <button type="submit">Open</button>
      </PostForm>
    </>
  ),
};

/** More are named by their number. */
const MAX_FILES = 1_000;

interface FilesView {
  readonly title: string;
  readonly files: readonly {
    readonly name: string;
    readonly href: string;
    readonly size: number | null;
    readonly changedAt: string | null;
  }[];
  readonly more: number;
}

function viewOf({ services }: Context, files: readonly Resource[], folder: string): FilesView {
  return {
    title: folder === '' ? 'Files' : folder.slice(0, -1).split('/').at(-1)!,
    files: files.slice(0, MAX_FILES).map((file) => {
      const { size, changedAt } = services.factsOf({ ...file, name: file.canonical });
      return {
        name: file.extensionForm.slice(folder.length),
        href: placeOf(file),
        size,
        changedAt,
      };
    }),
    more: Math.max(0, files.length - MAX_FILES),
  };
}

export const filesPage: Page<FilesView> = {
  name: 'link-files',
  layout: 'wide',
  title: ({ title }) => title,
  content: ({ files, more }) => (
    <>
      <div class="scroll" tabindex="0" role="region" aria-label="Files">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="number">
                Size
              </th>
              <th scope="col">Changed</th>
            </tr>
          </thead>
          <tbody>
            {files.map(({ name, href, size, changedAt }) => (
              <tr>
                <td>
                  <a {...{ href }} safe>
                    {name}
                  </a>
                </td>
                <td class="number">{size === null ? '' : <Size bytes={size} />}</td>
                <td>
                  <UtcTime at={changedAt} none="" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && <p class="fine" safe>{`and ${more.toLocaleString('en')} more`}</p>}
    </>
  ),
};
