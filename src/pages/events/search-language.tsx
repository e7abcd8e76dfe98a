/** @jsxImportSource @kitajs/html */
/**
 * The reference of the search language, generated from the language's own tables.
 */
import { Elysia } from 'elysia';
import { SPL_PAIRS } from '../../api/spl-pairs.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { reference } from '../../language/reference.ts';
import { describeLanguage } from '../../operations/events/searches.ts';
import { pageReply } from '../page-reply.ts';
import type { Page } from '../frame.tsx';

export const searchLanguagePageRoute = new Elysia({ name: 'search-language' })
  .use(lifecycle)
  .get(
    '/docs/search-language',
    async ({ ask }) =>
      pageReply(ask, searchLanguagePage, await describeLanguage(ask.services, ask.user)),
    { checks: { access: 'user', cacheControl: PRIVATE } },
  );

type SearchLanguageView = ReturnType<typeof reference>;

type CommandEntry = SearchLanguageView['commands'][number];
interface NamedEntry {
  readonly name: string;
  readonly args?: string;
  readonly summary: string;
  readonly forms?: readonly string[];
}

export const searchLanguagePage: Page<SearchLanguageView> = {
  name: 'search-language',
  layout: 'wide',
  title: () => 'Search language',
  styles: ['document.css'],
  trail: () => [{ label: 'API', href: '/docs' }],
  content: (view) => (
    <article class="prose">
      <p>
        A query is stages with <code>|</code> between them; each works on the rows of the one
        before. The first words search events; <code>from</code> reads a dataset. Try it on the{' '}
        <a href="/events">events page</a>, with <code>svc search</code>, or with a POST to{' '}
        <code>/search2/api/run/</code>.
      </p>
      <p>
        The ten hosts with the most failures of the last day:{' '}
        <code>earliest=-24h status&gt;=500 | top limit=10 host</code>
      </p>
      <nav class="commands" aria-label="Commands">
        <p>
          {view.commands.map(({ name }) => (
            <>
              <a href={`#${name}`} safe>
                {name}
              </a>{' '}
            </>
          ))}
        </p>
      </nav>
      <h2 id="spl">If you know SPL</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">SPL</th>
            <th scope="col">here</th>
          </tr>
        </thead>
        <tbody>
          {SPL_PAIRS.map(([spl, ours]) => (
            <tr>
              <td>
                <code safe>{spl}</code>
              </td>
              <td>
                <code safe>{ours}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2 id="commands">Commands</h2>
      {view.commands.map((command) => (
        <CommandSection command={command} />
      ))}
      <h2 id="functions">Functions</h2>
      <Names caption="Functions" entries={view.functions} />
      <h2 id="aggregates">Aggregates</h2>
      <Names caption="Aggregates" entries={view.aggregates} />
      <h2 id="placeholders">Placeholders</h2>
      <Names
        caption="Placeholders"
        entries={view.placeholders.map(({ name, summary }) => ({ name: `{${name}}`, summary }))}
      />
      <h2 id="lookups">Lookups of conditions</h2>
      <p>
        <code safe>{view.lookups.join(' ')}</code>
      </p>
      <h2 id="sources">Sources you may read</h2>
      <p>
        <code safe>{view.sources.join(' ')}</code>
      </p>
    </article>
  ),
};

function CommandSection({ command }: { readonly command: CommandEntry }) {
  return (
    <section>
      <h3 id={command.name} safe>
        {command.name}
      </h3>
      <p safe>{command.summary}</p>
      <pre tabindex="0">
        <code safe>{command.syntax}</code>
      </pre>
      {command.flags.length > 0 && (
        <ul>
          {command.flags.map((flag) => (
            <li>
              <code safe>{`--${flag.name}`}</code> <span safe>{flagNote(flag)}</span>
            </li>
          ))}
        </ul>
      )}
      {command.examples.map((example) => (
        <pre tabindex="0">
          <code safe>{example}</code>
        </pre>
      ))}
    </section>
  );
}

function flagNote({
  help,
  required,
  repeatable,
  default: standard,
}: CommandEntry['flags'][number]) {
  const notes = [
    required ? 'required' : null,
    repeatable ? 'repeatable' : null,
    standard === null ? null : `default ${String(standard)}`,
  ].filter((note) => note !== null);
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
}

function Names(props: { readonly caption: string; readonly entries: readonly NamedEntry[] }) {
  return (
    <table>
      <caption class="visually-hidden" safe>
        {props.caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Form</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {props.entries.map(({ name, args, summary, forms }) => (
          <tr>
            <td>
              <code safe>{args === undefined ? name : `${name}(${args})`}</code>
            </td>
            <td safe>{(forms ?? ['both']).join(', ')}</td>
            <td safe>{summary}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
