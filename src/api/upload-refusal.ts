/**
 * A refused upload in a browser without script: a page with the reason and what would be right. Programs, and the script of the
 * start page, get JSON.
 */
import type { AppError } from '../base/errors.ts';
import { sizeText } from '../base/text/size-text.ts';
import type { Config } from '../config/schema.ts';
import type { Context } from '../http/context.ts';
import { jsonError } from '../http/reply/errors.ts';
import { pageReply } from '../http/reply/page-reply.ts';
import { uploadRefusedPage } from '../pages/views/upload-refused.tsx';
import type { Reply } from '../http/reply/reply.ts';

/** The answer to a failed upload. Only a form sent by the browser itself is answered with a page: `/api` is JSON. */
export function uploadFailureReply(failure: AppError, context: Context): Reply {
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
