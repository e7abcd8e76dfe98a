/**
 * What a rendered document may contain: GitHub's elements, no script, style or form, nothing loaded
 * from elsewhere. Everything passes through here, even the renderer's own output.
 */
import type { Attributes, IOptions, Tag } from 'sanitize-html';

const ELEMENTS = (
  'h1 h2 h3 h4 h5 h6 p blockquote pre code ul ol li dl dt dd table thead tbody tfoot tr th td caption hr br ' +
  'a img em strong b i u s del ins sub sup kbd samp var mark small abbr q cite dfn time span div ' +
  'details summary figure figcaption ruby rt rp wbr input'
).split(' ');
/** Everything else, above all `javascript:` and `data:`, is removed. */
const LINK_SCHEMES = ['http', 'https', 'mailto', 'tel'];
const FOREIGN = /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;

export const allowList: IOptions = {
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
