/** One document of YAML without aliases; what is wrong is told with its line. */
import { isNode, isScalar } from 'yaml';
import { type AlertDefinition, checkDefinition } from '../../src/alerts/definition.ts';
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { sha256Hex } from '../../src/base/ids.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import { parseYaml } from '../../src/base/text/yaml-text.ts';
import type { ReadAlert } from '../../src/docroot/kind.ts';

const MAX_BYTES = 256 * 1024;
/** More would hide the first ones. */
const MAX_TOLD = 5;

/** Throws `unreadable-file` with the lines of what is wrong. */
export async function readAlert(source: FileSource, rel: string): Promise<ReadAlert> {
  if (source.size > MAX_BYTES)
    throw unreadable(`Cannot read '${rel}': an alert has ${MAX_BYTES / 1024} KiB at most`);
  const text = await readText(source, MAX_BYTES);
  return { definition: parseAlert(text, rel), hash: sha256Hex(text) };
}

function parseAlert(text: string, rel: string): AlertDefinition {
  const { document, lineAt } = parseYaml(text, rel);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw unreadable(`Cannot read '${rel}': aliases are not read: write out what they mean`, error);
  }
  const checked = checkDefinition(value);
  if ('definition' in checked) return checked.definition;
  const told = checked.problems.map(({ path, text: reason, line }) => {
    let node: unknown = document.contents;
    for (let depth = path.length; depth > 0; depth--) {
      const found = document.getIn(path.slice(0, depth), true);
      if (!isNode(found)) continue;
      node = found;
      break;
    }
    const first = lineAt((isNode(node) ? node.range?.[0] : undefined) ?? 0);
    // A block begins below its `|`.
    const isBlock = isScalar(node) && node.type?.startsWith('BLOCK') === true;
    const at = line === undefined ? first : first + line - (isBlock ? 0 : 1);
    return {
      at,
      text: `line ${at}: ${path.length === 0 ? 'the alert' : `'${path.join('.')}'`} ${reason}`,
    };
  });
  const inOrder = told.toSorted((a, b) => a.at - b.at).map((one) => one.text);
  const more = inOrder.length - MAX_TOLD;
  const tail = more > 0 ? `; and ${more} more` : '';
  throw unreadable(`Cannot read '${rel}': ${inOrder.slice(0, MAX_TOLD).join('; ')}${tail}`);
}
