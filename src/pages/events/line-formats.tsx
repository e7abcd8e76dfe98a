/** @jsxImportSource @kitajs/html */
import { Elysia } from 'elysia';
import type { LineExplanation } from '../../events/intake/explanation.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { readOnlyMode } from '../../http/route.ts';
import { requireEventRight } from '../../operations/events/event-access.ts';
import { explainEvents } from '../../operations/events/events.ts';
import { pageReply } from '../page-reply.ts';
import { PostForm } from '../parts/forms.tsx';
import type { FrameView, Page } from '../frame.tsx';

const checks = { access: 'user', cacheControl: PRIVATE } as const satisfies RouteRules;
const answers = {
  200: { description: 'A page for people', mediaType: 'text/html', schema: null },
} as const;
const MAX_LINE_CHARACTERS = 2000;

export const lineFormatsRoute = new Elysia({ name: 'line-formats' })
  .use(lifecycle)
  .get('/events/explain', ({ ask }) => show(ask, { lines: '', sourcetype: '', found: null }), {
    checks,
    describes: { summary: 'Show the form for lines of a log', tag: 'events', answers },
  })
  .post('/events/explain', ({ ask }) => explain(ask), {
    // Who may not write at all learns that first.
    checks: { ...checks, isExemptFromReadOnly: true },
    describes: {
      summary: 'Show what would be found in lines',
      tag: 'events',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers,
    },
  });

interface View {
  readonly lines: string;
  readonly sourcetype: string;
  readonly found: readonly LineExplanation[] | null;
}

async function explain(context: Context): Promise<Reply> {
  const fields = new Map(await context.form());
  const lines = fields.get('lines') ?? '';
  const sourcetype = (fields.get('sourcetype') ?? '').trim();
  const { services, user, origin } = context;
  await requireEventRight(services, user, origin, 'write');
  if (services.config.readonly) throw readOnlyMode();
  const found = await explainEvents(services, user, origin, { lines, sourcetype });
  return show(context, { lines, sourcetype, found });
}

async function show(context: Context, view: View): Promise<Reply> {
  await requireEventRight(context.services, context.user, context.origin, 'write');
  return pageReply(context, lineFormatsPage, view);
}

const lineFormatsPage: Page<View> = {
  name: 'line-formats',
  layout: 'wide',
  title: () => 'What is found in a line',
  styles: ['events.css'],
  trail: () => [{ label: 'Events', href: '/events' }],
  content: (view, frame) => (
    <>
      <p>
        Paste lines of a log as they would arrive: this shows the format, the time, the host and the
        fields that would be found. Nothing is stored.{' '}
        <a href="/docs/guide/events#what-is-found">What is found</a>
      </p>
      <Lines view={view} frame={frame} />
      {view.found !== null && <Found found={view.found} />}
    </>
  ),
};

function Lines({ view, frame }: { view: View; frame: FrameView }) {
  return (
    <PostForm class="stack explain" frame={frame} to="/events/explain">
      <label>
        Lines
        <textarea name="lines" rows="8" required spellcheck="false" wrap="off" safe>
          {`\n${view.lines}`}
        </textarea>
      </label>
      <label>
        Sourcetype, if they will have one
        <input name="sourcetype" maxlength="255" autocomplete="off" value={view.sourcetype} />
      </label>
      <p class="actions">
        <button type="submit">Explain</button>
      </p>
    </PostForm>
  );
}

function Found({ found }: { found: readonly LineExplanation[] }) {
  if (found.length === 0) return <p role="status">There are no lines.</p>;
  return (
    <section>
      <h2>Found</h2>
      <ol class="plain-list cards explained" role="list">
        {found.map((one) => (
          <li class="card">
            <code class="line-text" safe>
              {one.line.slice(0, MAX_LINE_CHARACTERS)}
            </code>
            <dl class="facts">
              <Fact name="Format" value={one.format ?? 'none'} />
              <Fact name="Time" value={one.time ?? 'when it arrives'} from={one.time_from} />
              <Fact name="Host" value={one.host ?? 'of the sender'} from={one.host_from} />
            </dl>
            <Fields fields={one.fields} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Fact({ name, value, from = null }: { name: string; value: string; from?: string | null }) {
  return (
    <div>
      <dt safe>{name}</dt>
      <dd>
        <span safe>{value}</span>
        {from !== null && (
          <>
            {' '}
            <span class="fine" safe>{`from ${from}`}</span>
          </>
        )}
      </dd>
    </div>
  );
}

/** The time stands above. */
function Fields({ fields }: { fields: string }) {
  const members = Object.entries(JSON.parse(fields) as Record<string, unknown>).filter(
    ([name]) => name !== 'event_time',
  );
  if (members.length === 0) return <p class="fine">No fields</p>;
  return (
    <dl class="facts">
      {members.map(([name, value]) => (
        <div>
          <dt safe>{name}</dt>
          <dd>
            <code safe>{JSON.stringify(value).slice(0, MAX_LINE_CHARACTERS)}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
