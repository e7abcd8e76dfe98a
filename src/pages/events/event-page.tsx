/** @jsxImportSource @kitajs/html */
/** One event under an address of its own, among those around it. */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { parseJson } from '../../base/json/json.ts';
import { eventJson } from '../../events/event.ts';
import { microsOf } from '../../language/expressions/time.ts';
import { fieldTerm, withinTimes } from '../../language/syntax/refine.ts';
import { timeText } from '../../events/event-time.ts';
import { getEvent } from '../../operations/events/events.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { pageReply } from '../page-reply.ts';
import type { Page } from '../frame.tsx';
import { type EventLine, EventLines } from './event-results.tsx';
import { addressOf, type Asked } from './explorer-state.ts';
import { linesOf, type ResultRow } from './result-view.ts';
import { run } from './run-query.ts';

const SHOWN_AROUND = 10;
/** Microseconds to each side, the wider one only where the first has too few. */
const REACHES = [600_000_000, 86_400_000_000];

const KINDS = [
  ['host', 'The same host'],
  ['source', 'The same source'],
  ['index', 'The same index'],
] as const;

type Kind = (typeof KINDS)[number][0];

export const eventPageRoute = new Elysia({ name: 'event-page' })
  .use(lifecycle)
  .get('/events/:id', ({ ask }) => show(ask), {
    checks: { access: 'user', cacheControl: PRIVATE, hasNumbers: true },
    describes: {
      summary: 'Show an event and those around it',
      tag: 'events',
      parameters: [
        {
          name: 'around',
          in: 'query',
          description: 'What the events around it have in common with it',
          schema: Type.Union(
            KINDS.map(([kind]) => Type.Literal(kind)),
            { default: 'host' },
          ),
        },
      ],
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
      errors: [403, 404],
    },
  });

interface EventView {
  readonly id: number;
  readonly kind: Kind;
  readonly lines: readonly EventLine[];
  /** The same events in the explorer. */
  readonly searchHref: string;
}

async function show(context: Context): Promise<Reply> {
  const { services, user, origin } = context;
  const id = context.idParameter();
  const event = parseJson(eventJson(await getEvent(services, user, origin, id))) as ResultRow;
  const wanted = context.queryValue('around');
  const kind = KINDS.find(([name]) => name === wanted)?.[0] ?? 'host';
  const [{ time }] = linesOf([event], asking('')) as [EventLine];
  const at = microsOf(time)!;
  const names = kind === 'index' ? ['index'] : ['index', kind];
  const terms = names.map((name) => fieldTerm(name, event[name])).join(' ');
  const later = await eventsFrom(context, terms, at, 1);
  const earlier = await eventsFrom(context, terms, at, -1);
  const others = later.filter((row) => String(row['id']) !== String(id));
  const rows = [...others.slice(0, SHOWN_AROUND).toReversed(), event, ...earlier];
  const [reach] = REACHES as [number];
  const asked = asking(terms, at - reach, at + reach);
  return pageReply(context, eventPage, {
    id,
    kind,
    lines: linesOf(rows, asked),
    searchHref: addressOf(asked),
  });
}

function asking(q: string, from: number | null = null, to: number | null = null): Asked {
  return {
    dataset: null,
    isSql: false,
    values: {},
    offset: 0,
    q,
    earliest: from === null ? '' : timeText(from),
    latest: to === null ? '' : timeText(to),
    timezone: 'UTC',
    limit: SHOWN_AROUND + 1,
    isTable: false,
    view: {},
  };
}

/** The nearest ones on one side; those of the same moment are later ones. */
async function eventsFrom(
  context: Context,
  terms: string,
  at: number,
  side: 1 | -1,
): Promise<readonly ResultRow[]> {
  const sorted = side === 1 ? 'sort _time, id' : 'sort -_time, -id';
  let rows: readonly ResultRow[] = [];
  for (const reach of REACHES) {
    const [from, to] = side === 1 ? [at, at + reach] : [at - reach, at];
    const asked = asking(terms, from, to);
    const query = `${withinTimes(terms, asked.earliest, asked.latest)} | ${sorted} | head ${asked.limit}`;
    const ran = await run(context, query, asked);
    if ('error' in ran) return rows;
    rows = ran.rows;
    if (rows.length >= asked.limit) break;
  }
  return side === 1 ? rows : rows.slice(0, SHOWN_AROUND);
}

export const eventPage: Page<EventView> = {
  name: 'event',
  layout: 'full',
  title: ({ id }) => `Event ${id}`,
  trail: () => [{ label: 'Events', href: '/events' }],
  styles: ['charts.css', 'events.css'],
  scripts: ['events.js'],
  content: ({ id, kind, lines, searchHref }) => (
    <>
      <nav class="around" aria-label="Events around it">
        <span>Around it, of</span>
        {KINDS.map(([name, label]) => (
          <a
            class="button quiet small"
            href={`/events/${id}${name === 'host' ? '' : `?around=${name}`}`}
            aria-current={name === kind ? 'true' : undefined}
            safe
          >
            {label}
          </a>
        ))}
        <a class="button quiet small" href={searchHref}>
          Search here
        </a>
      </nav>
      <div id="found">
        <EventLines
          label="The event and those around it, newest first"
          lines={lines}
          columns={[{ name: 'host', withoutHref: null }]}
          marked={String(id)}
        />
      </div>
    </>
  ),
};
