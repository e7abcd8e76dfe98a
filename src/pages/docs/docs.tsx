/** @jsxImportSource @kitajs/html */
import { Elysia } from 'elysia';
import {
  type ApiListing,
  findOperation,
  listOperations,
  type OperationGroup,
  type OperationLink,
} from '../../api/openapi/api-pages.ts';
import { AppError } from '../../base/errors.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { addressWith } from '../addresses.ts';
import { pageReply } from '../page-reply.ts';
import { NameFilter } from '../parts/forms.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import type { Page } from '../frame.tsx';
import { operationAddress, operationPage } from './operation.tsx';

export const docsRoute = new Elysia({ name: 'docs' }).use(lifecycle).get(
  '/docs',
  ({ ask }) => {
    const path = ask.queryValue('path');
    return path === null ? listing(ask) : operation(ask, path);
  },
  { checks: { access: 'public', cacheControl: PRIVATE } },
);

async function listing(context: Context): Promise<Reply> {
  const { services, caller } = context;
  const filter = (context.queryValue('filter') ?? '').trim();
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const found = await listOperations(services, caller, { filter, offset });
  return pageReply(context, docsPage, { ...found, filter, isSignedIn: caller !== null });
}

async function operation(context: Context, path: string): Promise<Reply> {
  const { services, caller, baseUrl } = context;
  const method = (context.queryValue('method') ?? 'get').toUpperCase();
  const found = await findOperation(services, caller, { method, path });
  if (found === null) throw new AppError('not-found', 'Not Found');
  return pageReply(context, operationPage, { ...found, origin: new URL(baseUrl).origin });
}

interface DocsView extends ApiListing {
  /** `''`: none. */
  readonly filter: string;
  readonly isSignedIn: boolean;
}

export const docsPage: Page<DocsView> = {
  name: 'docs',
  title: () => 'API',
  layout: 'wide',
  styles: ['docs.css'],
  scripts: ['live-forms.js'],
  content: (view) => (
    <div class="api">
      <p class="intro">
        {view.isSignedIn
          ? 'What you may ask of this server. Every request can be tried on its page, where it is made as you.'
          : 'What anybody may ask of this server; more is here for those who sign in.'}{' '}
        Programs read the same from <a href="/openapi.json">openapi.json</a>
        {view.isSignedIn && (
          <>
            {' '}
            and sign in with an <a href="/profile#keys">API key</a>; queries are written in the{' '}
            <a href="/docs/search-language">search language</a>
          </>
        )}
        .
      </p>
      <form class="filter" method="get" action="/docs" role="search" data-live="operations count">
        <NameFilter
          value={view.filter}
          label="Show operations with these words"
          placeholder="Filter by file, path or words"
        />
        <button class="quiet" type="submit">
          Filter
        </button>
      </form>
      <p class="fine" role="status" id="count" safe>
        {countText(view)}
      </p>
      <div id="operations">
        {view.files.length > 0 && <h2>Your data</h2>}
        <Groups groups={view.files} isOpen={view.fileCount === 1} />
        <PageLinks
          previousHref={
            view.previous === null
              ? null
              : addressWith('/docs', { filter: view.filter, offset: view.previous })
          }
          nextHref={
            view.next === null
              ? null
              : addressWith('/docs', { filter: view.filter, offset: view.next })
          }
        />
        {view.parts.length > 0 && <h2>The server</h2>}
        <Groups groups={view.parts} isOpen={view.filter !== ''} />
        {view.files.length === 0 && view.parts.length === 0 && (
          <p class="empty">
            No operation has all of these words. <a href="/docs">Show all of them</a>
          </p>
        )}
      </div>
    </div>
  ),
};

function Groups({ groups, isOpen }: { groups: readonly OperationGroup[]; isOpen: boolean }) {
  if (groups.length === 0) return '';
  return (
    <div class="operations">
      {groups.map(({ name, kind, operations }) => (
        <details open={isOpen}>
          <summary>
            <span class="name" safe>
              {name}
            </span>
            {kind !== null && (
              <span class="kind" safe>
                {kind}
              </span>
            )}
            <span class="fine" safe>
              {operationCount(operations.length)}
            </span>
          </summary>
          <ul>
            {operations.map((operation) => (
              <li>
                <Operation operation={operation} />
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}

function Operation({ operation }: { operation: OperationLink }) {
  const { method, path, summary } = operation;
  return (
    <a href={operationAddress(operation)}>
      <span class={`method ${method.toLowerCase()}`} safe>
        {method}
      </span>
      <code safe>{path}</code>
      <span class="summary" safe>
        {summary}
      </span>
    </a>
  );
}

function operationCount(count: number): string {
  if (count === 0) return 'no operation yet';
  return count === 1 ? '1 operation' : `${count} operations`;
}

function countText({ fileCount, parts, filter }: DocsView): string {
  const operations = parts.reduce((sum, part) => sum + part.operations.length, 0);
  const files = fileCount === 1 ? '1 resource' : `${fileCount.toLocaleString('en')} resources`;
  const others = `${operationCount(operations)} of the server`;
  const counted = [...(fileCount > 0 ? [files] : []), ...(operations > 0 ? [others] : [])];
  const text = counted.join(' and ') || 'Nothing';
  if (filter === '') return text;
  const isOne = fileCount + operations < 2;
  return `${text} ${isOne ? 'matches' : 'match'} “${filter}”`;
}
