/**
 * The API documentation (DS-193): Swagger UI, embedded, over the caller's own OpenAPI document.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';

/** `/docs`. */
export const docsPage: Page<object> = {
  name: 'docs',
  title: () => 'API',
  layout: 'wide',
  navigation: { label: 'API', href: '/docs', audience: 'users' },
  styles: ['swagger-ui.css', 'docs.css'],
  scripts: ['swagger-ui.js', 'docs.js'],
  content: () => (
    <>
      <p>
        What you may use of this server, as an interactive page. Programs read the same from{' '}
        <a href="/openapi.json">/openapi.json</a>; a request tried here is made as you. Queries are
        written in the <a href="/docs/search-language">search language</a>.
      </p>
      <div id="api" data-document="/openapi.json">
        <noscript>
          <p>The interactive page needs JavaScript; the document itself does not.</p>
        </noscript>
      </div>
    </>
  ),
};
