/** @jsxImportSource @kitajs/html */
/** Browsers without script get a page, others JSON. */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { withoutEndSlashes } from '../../base/paths.ts';
import { sizeText } from '../../base/text/size-text.ts';
import type { Config } from '../../config/settings.ts';
import { pageAddress } from '../../docroot/registry/addresses.ts';
import type { UploadField } from '../../docroot/uploads/uploads.ts';
import { isForm, MAX_FORM_BYTES, parseForm } from '../../http/body/form-body.ts';
import { boundaryOf, readMultipart } from '../../http/body/multipart.ts';
import type { Context } from '../../http/context.ts';
import {
  beginChange,
  idempotencyKey,
  isKnownChange,
  newHash,
} from '../../http/hooks/idempotency.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { jsonError } from '../../http/reply/errors.ts';
import { jsonReply, type Reply } from '../../http/reply/reply.ts';
import {
  noteDeniedUpload,
  refusalOf,
  requireUpload,
  uploadFile,
  type UploadResult,
} from '../../operations/files/uploads.ts';
import { pageReply } from '../page-reply.ts';
import { Size } from '../parts/values.tsx';
import type { Page } from '../frame.tsx';
import { UploadForm } from './landing.tsx';
import type { Viewer } from '../../http/operation-description.ts';

interface UploadRefusedView {
  readonly detail: string;
  readonly advice: string;
  /** Null for callers who may not upload. */
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

const uploadResult = Type.Object(
  {
    path: Type.String({ description: 'Of the file in the document root' }),
    size: Type.Integer({ minimum: 0, description: 'Bytes' }),
    mime_type: Type.String({ description: 'What the content looks like' }),
    checksum: Type.String({ description: 'SHA-256, lower-case hex' }),
    operation: Type.Union([Type.Literal('created'), Type.Literal('overwritten')]),
  },
  { $id: 'UploadResult' },
);

export const uploadsRoute = new Elysia({ name: 'uploads' }).use(lifecycle).post(
  '/api/uploads',
  async ({ ask }) => {
    const { services, user, origin } = ask;
    const asked = withoutEndSlashes(ask.queryValue('folder') ?? '');
    const folder = asked === '' ? '' : await services.moves.spelled(asked);
    const hash = idempotencyKey(ask.request.headers) === null ? null : newHash(ask);
    const fields = fieldsOf(ask);
    const read = fields === null || hash === null ? fields : hashedFields(fields, hash);
    if (read !== null && hash !== null && (await isKnownChange(ask))) {
      await requireUpload(services, user, origin, () => refusalOf(services, user, folder));
      for await (const { content } of read) for await (const _ of content);
      const repeated = await beginChange(ask, hash.digest('hex'));
      if (repeated !== null) return repeated;
      throw answeredMeanwhile();
    }
    let requestHash: string | null = null;
    const beforeNaming = async (): Promise<void> => {
      await ask.requireStanding();
      requestHash ??= hash?.digest('hex') ?? null;
      const repeated = await beginChange(ask, requestHash);
      if (repeated !== null) throw answeredMeanwhile();
    };
    const result = await uploadFile(services, user, origin, read, beforeNaming, { folder });
    return ask.wantsHtml ? resultPage(ask, result) : jsonReply(result, { status: 201 });
  },
  {
    checks: {
      access: 'user',
      isListedFor: ({ mayUpload }: Viewer) => mayUpload,
      answersFailure: uploadFailureReply,
      // The operation refuses after checking the right, and audits it.
      isExemptFromReadOnly: true,
      onRefused: (context: Context, reason: AppError) =>
        noteDeniedUpload(context.services, context.caller, context.origin, reason),
    },
    describes: {
      summary: 'Upload a file into a folder',
      tag: 'uploads',
      parameters: [
        {
          name: 'folder',
          in: 'query',
          description: 'An existing folder; without it the document root itself',
          schema: Type.String(),
        },
      ],
      body: {
        mediaType: 'multipart/form-data',
        required: true,
        schema: Type.Object({
          filename: Type.String({ description: 'Base name, at most 255 bytes' }),
          file: Type.String({ format: 'binary' }),
        }),
      },
      answers: { 201: { description: 'The file is stored and served', schema: uploadResult } },
      errors: [400, 404, 409, 413, 500, 507],
    },
  },
);

function answeredMeanwhile(): AppError {
  const text = 'A request with this Idempotency-Key was under way; send this one again';
  return new AppError('conflict', text);
}

/** The same fields; what was read of them is in `hash`. */
async function* hashedFields(
  fields: AsyncIterable<UploadField>,
  hash: Pick<ReturnType<typeof newHash>, 'update'>,
): AsyncGenerator<UploadField> {
  for await (const { content, ...field } of fields) {
    hash.update(JSON.stringify([field.name, field.filename]));
    yield { ...field, content: hashed(content, hash) };
  }
}

async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: Pick<ReturnType<typeof newHash>, 'update'>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Lazily, in the order sent; null when the body is no form. */
export function fieldsOf(context: Context): AsyncIterable<UploadField> | null {
  const { body, request, services } = context;
  const contentType = request.headers.get('content-type');
  const boundary = boundaryOf(contentType);
  if (boundary !== null) {
    // The file has its own limit; this one bounds the rest of the form.
    return readMultipart(
      body.stream(services.config.upload.max_size_bytes + MAX_FORM_BYTES),
      boundary,
    );
  }
  return isForm(body) && body.mediaType !== 'multipart/form-data' ? plainFields(context) : null;
}

async function* plainFields({ body, request }: Context): AsyncGenerator<UploadField> {
  const fields = await parseForm(body, request.headers.get('content-type'), MAX_FORM_BYTES);
  for (const [name, value] of fields ?? []) {
    // An urlencoded form cannot carry a file; a field of that name is only text.
    if (name !== 'file') yield { name, filename: null, type: '', content: once(value) };
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function resultPage(context: Context, result: UploadResult): Reply {
  const resource = context.services.registry.list().find(({ rel }) => rel === result.path);
  const href = resource === undefined ? null : pageAddress(resource, resource.canonical);
  const view = { ...result, href, problem: resource?.problem ?? null };
  return pageReply(context, uploadedPage, view, { status: 201, headers: { Vary: 'Accept' } });
}

/** Only a form sent by the browser itself gets a page: `/api` is JSON. */
function uploadFailureReply(failure: AppError, context: Context): Reply {
  const isForm = context.request.headers.get('sec-fetch-mode') === 'navigate';
  if (!isForm || !context.wantsHtml) return jsonError(failure, context.requestId);
  const { config } = context.services;
  const { status } = failure;
  const mayTryAgain = status !== 403 && status !== 405;
  const view = {
    detail: failure.message,
    advice: adviceFor(failure, config.upload),
    limit: mayTryAgain ? config.upload.max_size_bytes : null,
    requestId: context.requestId,
  };
  const headers = { ...failure.headers, Vary: 'Accept' };
  return pageReply(context, uploadRefusedPage, view, { status, headers });
}

function adviceFor({ status, message }: AppError, upload: Config['upload']): string {
  if (status === 403) {
    return 'Only people with the right to write into the folder itself may upload. Ask whoever runs this site.';
  }
  if (status === 405) return 'This site can only be read at the moment. Nothing can be changed.';
  if (status === 413) {
    return `A file may have up to ${sizeText(upload.max_size_bytes)}. Make it smaller, split it, or ask whoever runs this site to raise the limit.`;
  }
  if (status === 507) return 'The disk is full. Tell whoever runs this site.';
  if (status === 409 && message.startsWith('Target')) {
    return 'Choose another name under “Save as”: files that are there already are not replaced here.';
  }
  if (status === 409) return 'Somebody is writing this file right now. Try again in a moment.';
  if (message.startsWith('File extension')) return extensionAdvice(upload);
  if (message.startsWith('Filename')) {
    return 'Choose a plain file name such as prices.csv: no folders, no / or \\, no dot at the beginning, at most 255 bytes.';
  }
  if (message.startsWith('Missing')) return 'Choose a file, then press Upload.';
  if (message.startsWith('Detected')) {
    return 'The content of the file is not what its name says. Give it the extension that fits its content.';
  }
  return 'Look at the file and its name, and try again.';
}

function extensionAdvice({ allowed_extensions: allowed }: Config['upload']): string {
  if (allowed.length > 0) return `Files that are taken here end in ${allowed.join(', ')}.`;
  return 'Programs and some other kinds of files are not taken here. Tables (.csv, .xlsx, .parquet), documents, pictures, sound and films are.';
}

interface UploadedView extends UploadResult {
  /** Null: files of this kind are stored but not served. */
  readonly href: string | null;
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
