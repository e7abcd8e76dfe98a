import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import type { UploadResult } from '../operations/uploads.ts';
import { noteDeniedUpload, uploadFile } from '../operations/uploads.ts';
import { pageAddress } from '../docroot/registry/addresses.ts';
import type { Context } from '../http/context.ts';
import { isForm, MAX_FORM_BYTES, parseForm } from '../http/body/form-body.ts';
import { boundaryOf, readMultipart } from '../http/body/multipart.ts';
import { pageReply } from '../http/reply/page-reply.ts';
import { uploadedPage } from '../pages/views/uploaded.tsx';
import type { Reply } from '../http/reply/reply.ts';
import { jsonReply } from '../http/reply/reply.ts';
import type { Viewer } from '../http/operation-description.ts';
import type { AppError } from '../base/errors.ts';
import { door } from '../http/door.ts';
import { uploadFailureReply } from './upload-refusal.ts';
import type { UploadField } from '../docroot/uploads/uploads.ts';

const uploadResult = Type.Object(
  {
    path: Type.String({ description: 'File name in the document root' }),
    size: Type.Integer({ minimum: 0, description: 'Bytes' }),
    mime_type: Type.String({ description: 'What the content looks like' }),
    checksum: Type.String({ description: 'SHA-256, lower-case hex' }),
    operation: Type.Union([Type.Literal('created'), Type.Literal('overwritten')]),
  },
  { $id: 'UploadResult' },
);

export const uploadsRoute = new Elysia({ name: 'uploads' }).use(door).post(
  '/api/uploads',
  async ({ ask }) => {
    const { services, user, origin } = ask;
    const requireStanding = () => ask.requireStanding();
    const result = await uploadFile(services, user, origin, fieldsOf(ask), requireStanding);
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
      summary: 'Upload a file into the document root',
      tag: 'uploads',
      body: {
        mediaType: 'multipart/form-data',
        required: true,
        schema: Type.Object({
          filename: Type.String({ description: 'Base name, at most 255 bytes' }),
          file: Type.String({ format: 'binary' }),
        }),
      },
      answers: { 201: { description: 'The file is stored and served', schema: uploadResult } },
      errors: [400, 409, 413, 500, 507],
    },
  },
);

/** Lazily, in the order sent; null when the body is no form. */
function fieldsOf(context: Context): AsyncIterable<UploadField> | null {
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
