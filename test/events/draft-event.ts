/**
 * An event that is to be stored, with what a test says and the defaults of EV-27 for the rest.
 */
import type { EventDraft } from '../../src/events/event.ts';

export function draftEvent(some: Partial<EventDraft>): EventDraft {
  return {
    index: 'default',
    sourcetype: 'default',
    source: 'default',
    host: 'default',
    data: 'x',
    fields: '{}',
    eventTime: null,
    ...some,
  };
}
