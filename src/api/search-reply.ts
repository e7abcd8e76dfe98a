/**
 * The rows of a query as a response, for every route that runs one.
 */
import { streamOfChunks } from '../base/scheduling/chunk-stream.ts';
import { SQL } from '../language/syntax/problem.ts';
import { formatDetails } from '../tables/read/format.ts';
import type { SearchResult } from '../operations/events/searches.ts';
import { isStillAdmitted } from '../http/hooks/admission.ts';
import type { Context } from '../http/context.ts';
import { byteStream, whileAllowed } from '../http/reply/outgoing-stream.ts';
import { bodyReply, jsonReply, type Reply } from '../http/reply/reply.ts';

/** The answer to a run: the rows in their format, of which all but JSON and NDJSON are downloads, or what is wrong. */
export async function searchReply(context: Context, result: SearchResult): Promise<Reply> {
  if (result.kind === 'problem') {
    const { command, code } = result.problem;
    const isSql = command === SQL;
    const status = !isSql ? 400 : code === 'time_budget' ? 408 : 422;
    const help = isSql ? '/docs/guide/searching#sql' : '/docs/search-language';
    return jsonReply(result.problem, { status, headers: { Link: `<${help}>; rel="help"` } });
  }
  const { format, body, leave, limit, isCut, mayStillRead, age } = result;
  const { mediaType, attachment } = formatDetails[format];
  const headers: Record<string, string> = {
    ...(age !== undefined && { Age: String(age) }),
    ...(attachment && { 'Content-Disposition': `attachment; filename="search.${format}"` }),
    // A file cannot say itself that there are more rows; JSON and NDJSON do.
    ...(format !== 'json' && { 'X-Row-Limit': String(limit) }),
    ...(attachment && isCut !== null && { 'X-Truncated': String(isCut) }),
  };
  if (body instanceof ReadableStream) {
    const rows = whileAllowed(
      body,
      async () => (await isStillAdmitted(context)) && (await mayStillRead()),
    );
    return bodyReply(leaving(byteStream(rows), leave), mediaType, { headers });
  }
  await leave();
  return bodyReply(body, mediaType, { headers });
}

/** The stream, with the caller's turn given back however it ends. */
function leaving(
  body: ReadableStream<Uint8Array>,
  leave: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return streamOfChunks({ next: () => reader.read() }, async (left) => {
    try {
      // Throws where the rows had broken off before their reader left.
      if (left) await reader.cancel(left.reason);
    } finally {
      await leave();
    }
  });
}
