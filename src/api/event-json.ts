/**
 * JSON and form bodies of the smaller event routes.
 */
import { AppError } from '../base/errors.ts';
import { decodeUtf8, JsonParseError, parseEventJson } from '../events/intake/json-text.ts';
import type { Context } from '../http/context.ts';
import { eventBody, joined } from './event-body.ts';

/** Names, queries and settings; it is parsed at once, so more would hold everybody up. */
export const MAX_SMALL_BODY_BYTES = 1024 * 1024;

/**
 * The value of a body of at most 1 MiB; of a form an object, where names in `lists` may repeat. Throws `too-large`, and
 * `bad-request` with the text for bodies that are no JSON.
 */
export async function eventJsonBody(
  context: Context,
  lists: readonly string[] = [],
): Promise<unknown> {
  const rules = { takesLines: false, lists, maxBytes: MAX_SMALL_BODY_BYTES };
  const { pieces, form } = await eventBody(context, rules);
  try {
    return parseEventJson(
      decodeUtf8(joined(pieces)),
      context.services.config.events.limits.max_depth,
    );
  } catch (error) {
    if (error instanceof JsonParseError && form === 'json')
      throw new AppError('bad-request', error.message);
    throw error;
  }
}
