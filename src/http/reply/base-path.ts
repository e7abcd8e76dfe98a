/**
 * For a site below the root of its host (`public_url` with a path): addresses are written from the root inside, and here
 * get the path in front. Those that have it stay, so no top folder may be called like its first segment.
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

/** `base` is not empty. */
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

/** HTML files of the document root are bytes and stay as they are. */
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
