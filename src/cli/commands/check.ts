/**
 * `svc check`: reads the configuration, every published file, the history, the audit and the events once. Exits
 * with 1 for an unreadable file, a changed audit, a damaged history or event store, or a certificate no server
 * would start with.
 */
import { join } from 'node:path';
import { openCatalogue } from '../catalogue.ts';
import { findPartProblems, findStoreProblem } from '../../events/store/store-problem.ts';
import { DATABASE_FILE } from '../../store/state-files.ts';
import { readCertificate } from '../../http/certificate.ts';
import { AppError } from '../../base/errors.ts';
import type { Config } from '../../config/settings.ts';
import { secretProblems } from '../../deliveries/secrets.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';
import { progressLine } from '../progress-line.ts';
import { tlsWarnings } from '../tls-warnings.ts';
import { answerText } from '../printer.ts';

interface Findings {
  readonly document_root: string;
  readonly store: string;
  readonly datasets: number;
  readonly resources: number;
  readonly warnings: readonly string[];
  readonly problems: readonly { readonly resource: string; readonly reason: string }[];
  readonly unserved: readonly { readonly file: string; readonly reason: string }[];
}

/** Lines for people; `--json` has them all. */
const MAX_UNSERVED_LINES = 100;

export async function check(invocation: Invocation): Promise<number> {
  const { config } = await loadInvocation(invocation);
  const line = progressLine(invocation.outside);
  const catalogue = await openCatalogue(config, commandLog(config, line.outside), {
    readFiles: true,
    onProgress: (done, total) => line.show(`Reading the datasets: ${done} of ${total}`),
  }).finally(() => line.clear());
  const tampering = await catalogue.findAuditProblem();
  const history = await catalogue.findHistoryProblems();
  const listener = await catalogue.findListenerProblem();
  const damage = findStoreProblem(config.state_dir);
  const parts = damage === null ? findPartProblems(config.state_dir) : [];
  const unusable = await certificateProblem(config);
  const doubts = unusable === null ? await tlsWarnings(config, Date.now()) : [];
  const findings: Findings = {
    document_root: config.docroot,
    store: join(config.state_dir, DATABASE_FILE),
    datasets: catalogue.resources.filter(({ kind }) => kind.dataset !== undefined).length,
    resources: catalogue.resources.length,
    warnings: [...catalogue.warnings, ...doubts, ...secretProblems(config.deliveries)],
    problems: [
      ...catalogue.problems.map(({ rel, reason }) => ({ resource: rel, reason })),
      ...(tampering === null ? [] : [{ resource: 'audit', reason: tampering }]),
      ...history.map((reason) => ({ resource: 'history', reason })),
      ...(damage === null ? [] : [{ resource: 'events', reason: damage }]),
      ...parts.map((reason) => ({ resource: 'events', reason })),
      ...(listener === null ? [] : [{ resource: 'configuration', reason: listener }]),
      ...(unusable === null ? [] : [{ resource: 'TLS', reason: unusable }]),
    ],
    unserved: catalogue.unserved.map(({ rel, reason }) => ({ file: rel, reason })),
  };
  await catalogue.close();
  invocation.outside.out(answerText(invocation, findings, asText));
  return findings.problems.length === 0 ? 0 : 1;
}

/** Null when a server would start with the certificate. */
async function certificateProblem(config: Config): Promise<string | null> {
  try {
    readCertificate(config);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

function asText(findings: Findings): string {
  return [
    `Document root: ${findings.document_root}`,
    `SQLite store: ${findings.store}`,
    `Discovered ${findings.datasets} dataset(s), ${findings.resources} resource(s)`,
    ...findings.warnings.map((warning) => `WARNING: ${warning}`),
    ...findings.problems.flatMap(({ resource, reason }) => [
      `PROBLEM: ${resource}: ${reason}`,
      ...adviceFor(resource, reason),
    ]),
    ...unservedLines(findings.unserved),
    '',
  ].join('\n');
}

function unservedLines(unserved: Findings['unserved']): string[] {
  const more = unserved.length - MAX_UNSERVED_LINES;
  return [
    ...unserved
      .slice(0, MAX_UNSERVED_LINES)
      .map(({ file, reason }) => `NOT SERVED: ${file}: ${reason}`),
    ...(more > 0 ? [`NOT SERVED: ${more} more; --json names them`] : []),
  ];
}

/** Advice for problems people meet with their first file. */
function adviceFor(resource: string, reason: string): string[] {
  if (!resource.endsWith('.csv') || !reason.startsWith('invalid UTF-8')) return [];
  return [
    `         A file in an older encoding? Say it on its page, or: svc companion set '${resource}' --encoding windows-1252`,
  ];
}
