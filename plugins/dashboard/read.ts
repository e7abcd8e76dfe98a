/** One document of YAML without aliases, checked member by member against the schema. */
import type { Document } from 'yaml';
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import { parseYaml } from '../../src/base/text/yaml-text.ts';
import { type Dashboard, dashboardSchema, MAX_PANELS } from '../../src/docroot/dashboard.ts';
import { checkNode, Mistake } from './check-node.ts';
import { checkMeaning } from './check-meaning.ts';

/** Sixty panels with long queries; more is no dashboard. */
const MAX_BYTES = 512 * 1024;

export interface ParsedDashboard {
  readonly document: Document;
  readonly dashboard: Dashboard;
}

/** Throws `unreadable-file`. */
export async function readDashboard(source: FileSource, rel: string): Promise<Dashboard> {
  return parseDashboard(await textOf(source, rel), rel).dashboard;
}

export async function textOf(source: FileSource, rel: string): Promise<string> {
  if (source.size > MAX_BYTES) {
    throw unreadable(`Cannot read '${rel}': a dashboard has ${MAX_BYTES / 1024} KiB at most`);
  }
  return readText(source, MAX_BYTES);
}

/** Throws `unreadable-file` with the line of the first mistake. */
export function parseDashboard(text: string, rel: string): ParsedDashboard {
  const { document, lineAt } = parseYaml(text, rel);
  const wrong = (at: number, reason: string, cause?: unknown): Error =>
    unreadable(`Cannot read '${rel}': line ${lineAt(at)}: ${reason}`, cause);
  try {
    const dashboard = checkNode(document.contents, dashboardSchema, '') as Dashboard;
    const panels = dashboard.rows.reduce((sum, row) => sum + row.panels.length, 0);
    if (panels > MAX_PANELS)
      throw new Mistake(null, `a dashboard has ${MAX_PANELS} panels at most, not ${panels}`);
    checkMeaning(dashboard, document);
    return { document, dashboard };
  } catch (error) {
    if (error instanceof Mistake) throw wrong(error.at, error.message, error);
    throw error;
  }
}
