/**
 * Bodies of WebDAV: small documents with namespaces. Document type declarations are refused, so nothing is ever fetched
 * or expanded.
 */
import { parseXml, type XmlElement } from '@rgrove/parse-xml';
import { AppError } from '../../base/errors.ts';

export const DAV = 'DAV:';
/** Clients ask for a dozen properties. */
export const MAX_XML_BYTES = 64 * 1024;
/** The parser and the walk below call themselves for each level. */
const MAX_ELEMENTS = 1_000;

export interface Element {
  readonly namespace: string;
  readonly name: string;
  readonly children: readonly Element[];
  readonly text: string;
}

/** Throws `bad-request`. */
export function readXml(bytes: Uint8Array): Element {
  let text: string;
  try {
    text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch (error) {
    throw malformed('it is not UTF-8', error);
  }
  if (/<!DOCTYPE/i.test(text)) throw malformed('a document type declaration is not accepted');
  if (text.split('<').length > 2 * MAX_ELEMENTS) throw malformed('there are too many elements');
  let root: XmlElement | null;
  try {
    root = parseXml(text).root;
  } catch (error) {
    const [line = ''] = String((error as Error).message).split('\n');
    throw malformed(line, error);
  }
  if (root === null) throw malformed('there is no element');
  return elementOf(root, new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]));
}

function encodingOf([first, second]: Uint8Array): Bun.Encoding {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function elementOf(element: XmlElement, outer: ReadonlyMap<string, string>): Element {
  const spaces = new Map(outer);
  for (const [name, value] of Object.entries(element.attributes)) {
    if (name === 'xmlns') spaces.set('', value);
    else if (name.startsWith('xmlns:')) {
      if (value === '') throw malformed(`the prefix of ${name} has no namespace`);
      spaces.set(name.slice('xmlns:'.length), value);
    }
  }
  const colon = element.name.indexOf(':');
  const prefix = colon < 0 ? '' : element.name.slice(0, colon);
  const namespace = spaces.get(prefix);
  if (namespace === undefined && prefix !== '') throw malformed(`the prefix ${prefix} is unknown`);
  const inner = element.children.filter((one): one is XmlElement => one.type === 'element');
  return {
    namespace: namespace ?? '',
    name: element.name.slice(colon + 1),
    children: inner.map((one) => elementOf(one, spaces)),
    text: element.text,
  };
}

function malformed(reason: string, cause?: unknown): AppError {
  return new AppError('bad-request', `The body is not the XML that is asked for: ${reason}`, {
    cause,
  });
}

export function childOf(element: Element, name: string): Element | undefined {
  return element.children.find((one) => one.namespace === DAV && one.name === name);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Characters that no document may hold are left out. */
export function escaped(text: string): string {
  return text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/[&<>"]/g, (character) => ESCAPES[character]!);
}

/** Empty, in its namespace: how a property is named in an answer. */
export function tag(
  { namespace, name }: Pick<Element, 'namespace' | 'name'>,
  content = '',
): string {
  if (namespace === DAV)
    return content === '' ? `<D:${name}/>` : `<D:${name}>${content}</D:${name}>`;
  return `<x:${name} xmlns:x="${escaped(namespace)}"${content === '' ? '/>' : `>${content}</x:${name}>`}`;
}

export const XML_TYPE = 'application/xml; charset=utf-8';
export const XML_START = '<?xml version="1.0" encoding="utf-8"?>\n';
