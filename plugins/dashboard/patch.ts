/** RFC 6902 on the nodes of YAML, so that comments, order and spelling of the rest stay. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  type ToStringOptions,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { AppError, invalidRequest } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { DashboardPatch } from '../../src/docroot/dashboard.ts';
import { parseDashboard, textOf } from './read.ts';

type Operation = DashboardPatch[number];

/** The text of the patched file. Throws `unreadable-file`, and `invalid-request` that names the operation. */
export async function patchDashboard(
  source: FileSource,
  rel: string,
  patch: DashboardPatch,
): Promise<string> {
  const written = await textOf(source, rel);
  const { document } = parseDashboard(written, rel);
  bindComments(document);
  for (const [index, operation] of patch.entries()) {
    try {
      apply(document, operation);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      throw invalidRequest({
        type: 'value_error',
        loc: ['body', index, error.member],
        msg: error.message,
      });
    }
  }
  const text = document.toString(spellingOf(written));
  try {
    parseDashboard(text, rel);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The lines are of a text that nobody has seen.
    const reason = error.message.replace(/^Cannot read '.*?': (?:line \d+: )?/s, '');
    throw invalidRequest({
      type: 'value_error',
      loc: ['body'],
      msg: `It would be no dashboard: ${reason}`,
    });
  }
  return text;
}

/** A comment above the first entry of a list is about that entry, and moves with it. */
function bindComments(document: Document): void {
  visit(document, {
    Seq: (_, list) => {
      const [first] = list.items;
      if (!isNode(first) || list.flow === true || !list.commentBefore) return;
      first.commentBefore = [list.commentBefore, first.commentBefore].filter(Boolean).join('\n');
      list.commentBefore = null;
    },
  });
}

/** Long lines of queries stay as they are; indents and brackets as most of the file has them. */
function spellingOf(text: string): ToStringOptions {
  const indents = [...text.matchAll(/^( +)[^\s#]/gm)].map(([, spaces]) => spaces!.length);
  return {
    lineWidth: 0,
    // Texts in queries have double quotes.
    singleQuote: true,
    indent: Math.max(2, Math.min(8, ...indents)),
    indentSeq: /^\w+:[ \t]*(?:#.*)?\n(?:[ \t]*#.*\n)*- /m.exec(text) === null,
    flowCollectionPadding: /[[{] \S/.test(text),
  };
}

class Misfit extends Error {
  readonly member: keyof Operation;

  constructor(member: keyof Operation, message: string) {
    super(message);
    this.member = member;
  }
}

function apply(document: Document, { op, path, from, value }: Operation): void {
  const steps = stepsOf(path, 'path');
  switch (op) {
    case 'add':
      return insert(document, steps, document.createNode(valueOf(value)));
    case 'remove':
      take(document, steps, 'path');
      return;
    case 'replace':
      return replace(document, steps, valueOf(value));
    case 'move': {
      if (from === undefined) throw new Misfit('from', "a move needs 'from'");
      if (`${path}/`.startsWith(`${from}/`) && path !== from)
        throw new Misfit('path', 'nothing can be moved into itself');
      return insert(document, steps, take(document, stepsOf(from, 'from'), 'from'));
    }
    default: {
      const node = find(document, steps, 'path');
      const present = (node as Node | null)?.toJS(document) as unknown;
      if (!isDeepStrictEqual(present ?? null, value ?? null))
        throw new Misfit('value', `the value at ${path} is another one`);
    }
  }
}

/** RFC 6901. */
function stepsOf(pointer: string, member: 'path' | 'from'): string[] {
  const [first, ...steps] = pointer.split('/');
  if (first !== '' || steps.length === 0)
    throw new Misfit(member, `'${pointer}' is no place: it must be such as /rows/0/panels/1`);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueOf(value: unknown): unknown {
  if (value === undefined) throw new Misfit('value', "'value' is missing");
  return value;
}

function find(document: Document, steps: readonly string[], member: 'path' | 'from'): unknown {
  let node: unknown = document.contents;
  for (const step of steps) {
    if (isMap(node) && node.has(step)) node = node.get(step, true);
    else if (isSeq(node) && /^\d+$/.test(step) && Number(step) < node.items.length)
      node = node.items[Number(step)];
    else throw new Misfit(member, `there is nothing at /${steps.join('/')}`);
  }
  return node;
}

function parentOf(
  document: Document,
  steps: readonly string[],
  member: 'path' | 'from',
): YAMLMap | YAMLSeq {
  const parent = find(document, steps.slice(0, -1), member);
  if (isMap(parent) || isSeq(parent)) return parent;
  throw new Misfit(member, `/${steps.slice(0, -1).join('/')} holds no members`);
}

function insert(document: Document, steps: readonly string[], node: unknown): void {
  const parent = parentOf(document, steps, 'path');
  const last = steps.at(-1)!;
  // `[]` and `{}` would go on in one line.
  if (parent.items.length === 0) parent.flow = false;
  if (isMap(parent)) return void parent.set(last, node);
  const at = last === '-' ? parent.items.length : Number(last);
  if (!/^(?:-|\d+)$/.test(last) || at > parent.items.length)
    throw new Misfit('path', `'${last}' is no place in a list of ${parent.items.length}`);
  parent.items.splice(at, 0, node);
}

function take(document: Document, steps: readonly string[], member: 'path' | 'from'): unknown {
  const node = find(document, steps, member);
  const parent = parentOf(document, steps, member);
  const last = steps.at(-1)!;
  if (isMap(parent)) parent.delete(last);
  else parent.items.splice(Number(last), 1);
  return node;
}

function replace(document: Document, steps: readonly string[], value: unknown): void {
  const node = find(document, steps, 'path');
  if (merge(document, node, value)) return;
  const parent = parentOf(document, steps, 'path');
  const last = steps.at(-1)!;
  if (isMap(parent)) parent.set(last, document.createNode(value));
  else parent.items[Number(last)] = document.createNode(value);
}

/** Changes only what differs. False: it is of another kind, and nothing was changed. */
function merge(document: Document, node: unknown, value: unknown): boolean {
  if (isMap(node) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const wanted = new Map(Object.entries(value));
    node.items = node.items.filter(({ key }) =>
      wanted.has(String(isScalar(key) ? key.value : key)),
    );
    for (const [name, one] of wanted) {
      const pair = node.items.find(
        (item) => isPair(item) && String(isScalar(item.key) ? item.key.value : item.key) === name,
      );
      if (pair === undefined) node.set(name, document.createNode(one));
      else if (!merge(document, pair.value, one)) pair.value = document.createNode(one);
    }
    return true;
  }
  if (isSeq(node) && Array.isArray(value)) {
    node.items.length = Math.min(node.items.length, value.length);
    for (const [index, one] of value.entries()) {
      if (index >= node.items.length) node.add(document.createNode(one));
      else if (!merge(document, node.items[index], one))
        node.items[index] = document.createNode(one);
    }
    return true;
  }
  if (!isScalar(node) || (typeof value === 'object' && value !== null)) return false;
  if (node.value === value) return true;
  const isSameKind = typeof node.value === typeof value;
  node.value = value;
  // The number's own spelling, and a style that only the other kind of value needs.
  delete node.source;
  if (!isSameKind) node.type = Scalar.PLAIN;
  return true;
}
