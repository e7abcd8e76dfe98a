/** The published files for the operator's commands, read once without a server. */
import { openApp } from '../app.ts';
import { findTampering } from '../accounts/audit/audit-chain.ts';
import type { Log } from '../base/log.ts';
import { basePathOf, stemOf } from '../base/paths.ts';
import type { Config } from '../config/settings.ts';
import type { CheckProgress } from '../docroot/parsing/file-check.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { RESERVED_PATTERNS, shadowedNames } from '../docroot/registry/shadowed-names.ts';
import type { ExplanationServices } from '../operations/accounts/access-explanations.ts';
import { findListenerProblem } from '../operations/events/syslog.ts';
import { historyProblems } from '../tables/history/history-check.ts';
import { routes } from '../routes.ts';

export interface Catalogue {
  readonly resources: readonly Resource[];
  readonly warnings: readonly string[];
  readonly problems: readonly { readonly rel: string; readonly reason: string }[];
  readonly unserved: readonly { readonly rel: string; readonly reason: string }[];
  readonly services: ExplanationServices;
  /** Null: each syslog listener has its user. */
  findListenerProblem(): Promise<string | null>;
  /** Of the history, entry by entry. */
  findHistoryProblems(): Promise<string[]>;
  /** Null: the audit is intact. */
  findAuditProblem(): Promise<string | null>;
  close(): Promise<void>;
}

/**
 * Scans the document root and, with `readFiles`, reads every dataset once to find broken ones. Safe
 * beside a running server; leaves nothing behind. Throws `state-unusable`.
 */
export async function openCatalogue(
  config: Config,
  log: Log,
  {
    readFiles,
    onProgress = () => {},
  }: { readonly readFiles: boolean; readonly onProgress?: CheckProgress },
): Promise<Catalogue> {
  const app = await openApp(config, log, { exclusive: false, readsAhead: false });
  await app.settled();
  const unread = readFiles ? await app.check(onProgress) : [];
  const resources = app.registry.list();
  const registered = routes.map(({ pattern }) => pattern.replace(/\{\w+:rest\}/, '*'));
  const patterns = [...new Set([...registered, ...RESERVED_PATTERNS])];
  const shadowed = shadowedNames(resources, patterns).map(
    ({ resource, path, isFormShadowed }) =>
      `${resource.rel} is shadowed by the built-in ${path} route; ` +
      (isFormShadowed
        ? `its extension form ${resource.extensionForm} is covered too`
        : `use ${resource.extensionForm}`),
  );
  const shared = app.registry
    .sharedNames()
    .map(({ name, table, holder }) => `${table.rel} shares the name '${name}' with ${holder.rel}`);
  const hidden = app.registry
    .hiddenSheets()
    .map(({ rel, text }) => `${rel} is published in part: ${text}`);
  const base = basePathOf(config.public_url).split('/')[1] ?? '';
  const covered = coveredNames(resources, base).map(
    (name) => `${name} is not reached at /${name}: public_url has the path /${base}`,
  );
  return {
    services: app,
    resources,
    warnings: [...shadowed, ...shared, ...hidden, ...covered],
    problems: [
      ...resources.flatMap(({ rel, problem }) =>
        problem === null ? [] : [{ rel, reason: problem }],
      ),
      ...unread,
      ...app.registry.scanProblems().map(({ rel, text }) => ({ rel, reason: text })),
    ],
    findListenerProblem: () => findListenerProblem(app),
    unserved: app.registry.unserved().map(({ rel, text }) => ({ rel, reason: text })),
    findHistoryProblems: () =>
      historyProblems(app.db, (content) => app.versions.problemOf(content)),
    findAuditProblem: () => findTampering(app.db),
    close: () => app.close(),
  };
}

/** At the top of the document root, with an address of their own that begins as `public_url` does. */
function coveredNames(resources: readonly Resource[], base: string): string[] {
  const names = resources.flatMap(({ rel, family }) => {
    const [first = '', ...rest] = rel.normalize('NFC').split('/');
    const isOwn =
      first === base || (rest.length === 0 && family === 'content' && stemOf(first) === base);
    return base !== '' && isOwn ? [first] : [];
  });
  return [...new Set(names)];
}
