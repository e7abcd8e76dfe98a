/**
 * JSON and form bodies of the smaller event routes (EV-4, EV-6).
 */
import { AppError } from '../base/errors.ts';
import { decodeUtf8, JsonParseError, parseEventJson } from '../events/json-text.ts';
import type { Context } from './context.ts';
import { eventBody } from './event-body.ts';

/** The value of the body; of a form an object, where names in `lists` may repeat. Throws `bad-request` with EV-4's text. */
export async function eventJsonBody(
  context: Context,
  lists: readonly string[] = [],
): Promise<unknown> {
  const { bytes, form } = await eventBody(context, { takesLines: false, lists });
  try {
    return parseEventJson(decodeUtf8(bytes), context.services.config.events.limits.max_depth);
  } catch (error) {
    if (error instanceof JsonParseError && form === 'json')
      throw new AppError('bad-request', error.message);
    throw error;
  }
}
