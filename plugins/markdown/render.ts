/** GitHub's dialect through marked, heading ids as GitHub's, all filtered by the allow list. */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { readMarkup } from '../../src/base/text/markup-text.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import type { DocumentOrder, RenderedDocument } from '../../src/docroot/kind.ts';
import { splitFrontMatter } from './front-matter.ts';
import type { Attributes, IOptions, Tag } from 'sanitize-html';

/** Longer blocks are data; colouring them would take longer than reading them. */
const MAX_CODE = 64 * 1024;
/** Nobody nests quotes deeper, and the parser's time grows with the square of the depth. */
const TOO_DEEP = /^(?:[ \t]*>){50}/m;

/** Throws `too-large` beyond `maxBytes`, or for nesting meant to be hard to parse. */
export async function renderMarkdown(
  source: FileSource,
  { rel, maxBytes }: DocumentOrder,
): Promise<RenderedDocument> {
  if (source.size > maxBytes) {
    throw new AppError('too-large', `'${rel}' is too large to be shown as a page; download it`);
  }
  const { title, facts, text } = splitFrontMatter(await readText(source, maxBytes));
  const body = await safeMarkup(text, rel, { isColoured: true });
  const { sections } = await readMarkup(body);
  const outline = sections.flatMap(({ heading }) => (heading === null ? [] : [heading]));
  const first = outline.find(({ level }) => level === 1);
  return {
    title: title ?? (first?.text || null),
    hasHeading: /^\s*<h1[\s>]/.test(body),
    facts,
    body,
    outline,
  };
}

/** Throws `too-large` for nesting that is too deep. */
export async function safeMarkup(
  text: string,
  rel: string,
  { isColoured }: { readonly isColoured: boolean },
): Promise<string> {
  const [{ Marked }, { default: Slugger }, { default: sanitize }] = await Promise.all([
    import('marked'),
    import('github-slugger'),
    import('sanitize-html'),
  ]);
  if (TOO_DEEP.test(text)) throw tooDeep(rel);
  // About 20 ms the first time.
  const highlighter = isColoured ? (await import('./highlighter.js')).highlighter : null;
  const colour = (code: string, language: string): string | undefined =>
    code.length <= MAX_CODE && highlighter?.getLanguage(language)
      ? highlighter.highlight(code, { language, ignoreIllegals: true }).value
      : undefined;
  const slugger = new Slugger();
  const marked = new Marked({
    gfm: true,
    async: false,
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer);
        const slug = slugger.slug(unescaped(plain.replace(/<[^>]*>/g, '')));
        return `<h${depth} id="${escaped(slug)}">${inner}</h${depth}>\n`;
      },
      code({ text: code, lang }) {
        const language = /^[\w#+.-]+/.exec(lang ?? '')?.[0] ?? '';
        const lines = `${code.replace(/\n$/, '')}\n`;
        const coloured = colour(lines, language) ?? escaped(lines);
        const name = language === '' ? '' : ` class="language-${escaped(language)}"`;
        return `<pre><code${name}>${coloured}</code></pre>\n`;
      },
    },
  });
  try {
    return sanitize(marked.parse(text) as string, allowList);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep(rel, error);
  }
}

function tooDeep(rel: string, cause?: unknown): AppError {
  return new AppError('too-large', `'${rel}' is nested too deep to be shown as a page`, { cause });
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

const ELEMENTS = (
  'h1 h2 h3 h4 h5 h6 p blockquote pre code ul ol li dl dt dd table thead tbody tfoot tr th td caption hr br ' +
  'a img em strong b i u s del ins sub sup kbd samp var mark small abbr q cite dfn time span div ' +
  'details summary figure figcaption ruby rt rp wbr input'
).split(' ');
/** Everything else, above all `javascript:` and `data:`, is removed. */
const LINK_SCHEMES = ['http', 'https', 'mailto', 'tel'];
const FOREIGN = /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;

/**
 * GitHub's elements: no script, style or form, nothing loaded from elsewhere. Even the renderer's own output passes
 * through here.
 */
const allowList: IOptions = {
  allowedTags: ELEMENTS,
  allowedAttributes: {
    '*': ['id', 'title', 'lang', 'dir', 'align'],
    a: ['href', 'name', 'rel'],
    img: ['src', 'alt', 'width', 'height', 'loading'],
    ol: ['start', 'reversed', 'type'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan', 'scope'],
    details: ['open'],
    input: ['type', 'checked', 'disabled'],
    time: ['datetime'],
  },
  allowedClasses: {
    code: ['language-*', 'hljs'],
    span: ['hljs-*', 'language_', 'function_', 'class_', 'inherited__'],
    div: ['table'],
    li: ['task'],
  },
  allowedSchemes: LINK_SCHEMES,
  allowedSchemesByTag: { img: ['data'] },
  allowedSchemesAppliedToAttributes: ['href', 'src'],
  allowProtocolRelative: true,
  disallowedTagsMode: 'discard',
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'noscript',
    'template',
    'iframe',
    'svg',
    'math',
  ],
  parseStyleAttributes: false,
  transformTags: {
    a: (tagName, attribs) => {
      const isForeign = FOREIGN.test(attribs['href'] ?? '');
      const { rel: _, ...own } = attribs;
      return { tagName, attribs: isForeign ? { ...own, rel: 'noopener noreferrer' } : own };
    },
    img: imageOrLink,
    input: (tagName, { checked }) => ({
      tagName,
      attribs: { type: 'checkbox', disabled: '', ...(checked === undefined ? {} : { checked }) },
    }),
  },
};

function imageOrLink(tagName: string, attribs: Attributes): Tag {
  const { src = '', alt = '' } = attribs;
  if (!FOREIGN.test(src) || INLINE_IMAGE.test(src)) {
    return { tagName, attribs: { ...attribs, alt, loading: 'lazy' } };
  }
  // Loading it would reveal the reader to that server; a link leaves the choice.
  return { tagName: 'a', attribs: { href: src, rel: 'noopener noreferrer' }, text: alt || src };
}
