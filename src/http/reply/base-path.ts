/**
 * Answers of a site that begins below the root of its host, as `public_url` with a path says.
 *
 * Inside, every address is written from the root; here the path is put before those that leave. What has it already stays
 * as it is, so no top folder may be called like its first segment.
 */
import { underBase } from '../../base/paths.ts';
import type { Reply, Answer } from './reply.ts';

const ADDRESS_ATTRIBUTES: ReadonlySet<string> = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'poster',
]);

/** `base` is no empty text. */
export function withBasePath(answer: Answer, base: string): Answer {
  if (answer instanceof Response) return answer;
  const { Location: location, Link: link } = answer.headers;
  const headers = {
    ...answer.headers,
    ...(location !== undefined && { Location: underBase(base, location) }),
    ...(link !== undefined && {
      Link: link.replace(/^<([^>]*)>/, (_, address: string) => `<${underBase(base, address)}>`),
    }),
  };
  if (isPage(answer)) return { ...answer, headers, body: pageUnder(base, answer.body) };
  return location === undefined && link === undefined ? answer : { ...answer, headers };
}

/** Pages are texts; HTML files of the document root are bytes, and go out as they are. */
function isPage(reply: Reply): reply is Reply & { readonly body: string } {
  return (
    typeof reply.body === 'string' &&
    reply.headers['Content-Type']?.startsWith('text/html') === true
  );
}

function pageUnder(base: string, markup: string): string {
  const rewriter = new HTMLRewriter()
    .on('html', { element: (element) => void element.setAttribute('data-base', base) })
    .on('*', {
      element(element) {
        for (const [name, value] of [...element.attributes]) {
          const isAddress =
            ADDRESS_ATTRIBUTES.has(name) || (name.startsWith('data-') && /^\/[^/]/.test(value));
          if (isAddress && name !== 'data-base') element.setAttribute(name, underBase(base, value));
        }
      },
    });
  return rewriter.transform(markup);
}
