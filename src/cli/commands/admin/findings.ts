import { AppError } from '../../../base/errors.ts';
import type { FindingLine } from '../../../findings/store.ts';
import {
  findingHistory,
  type FindingChangeRequest,
  getFinding,
  listFindings,
  severitiesOf,
  statusesOf,
  updateFindings,
} from '../../../operations/findings.ts';
import { type AdminWork, onAccounts } from '../../administration.ts';
import { answerText, plain, textTable } from '../../printer.ts';
import { everything, keyNumber } from './named.ts';

const list: AdminWork = async ({ accounts, operator, invocation }) => {
  const { status, severity, owner, search } = invocation.options;
  const filter = {
    ...(status !== undefined && { statuses: word('--status', () => statusesOf(String(status))) }),
    ...(severity !== undefined && {
      severities: word('--severity', () => severitiesOf(String(severity))),
    }),
    ...(owner !== undefined && { owner: String(owner) }),
    ...(search !== undefined && { search: String(search) }),
  };
  const items = await everything<FindingLine>((query) =>
    listFindings(accounts, operator, { query }, filter),
  );
  return answerText(invocation, items, () => table(items));
};

function table(findings: readonly FindingLine[]): string {
  if (findings.length === 0) return 'No findings.\n';
  return textTable(
    ['id', 'status', 'severity', 'owner', 'last seen', 'count', 'alert', 'key'],
    findings.map((one) => [
      String(one.id),
      one.status,
      one.severity,
      one.owner ?? '',
      one.last_seen,
      String(one.count),
      one.alert,
      one.key,
    ]),
  );
}

const show: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const id = keyNumber('--id', text('id'));
  const finding = await getFinding(accounts, operator, id);
  const history = await findingHistory(accounts, operator, id);
  return answerText(invocation, { ...finding, history }, () => {
    const { columns, rows, notes, query, from, to } = finding;
    const lines = [
      `Query: ${query}`,
      `Time: ${from ?? 'the beginning'} to ${to ?? 'the end'}`,
      ...(notes === '' ? [] : [`Notes: ${notes}`]),
    ];
    const cells = rows.map((row) => columns.map((name) => cell(row[name])));
    const done = history.map(({ at, user, action, details }) => [
      at,
      user ?? '',
      action,
      details ?? '',
    ]);
    return [
      table([finding]),
      ...lines.map((line) => `${plain(line)}\n`),
      rows.length === 0 ? '' : textTable(columns, cells),
      textTable(['when', 'who', 'action', 'details'], done),
    ].join('');
  });
};

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const set: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const ids = text('id')
    .split(',')
    .map((one) => keyNumber('--id', one.trim()));
  const { status, severity, owner, notes } = invocation.options;
  const [newStatus] =
    status === undefined ? [] : word('--status', () => statusesOf(String(status)));
  const [newSeverity] =
    severity === undefined ? [] : word('--severity', () => severitiesOf(String(severity)));
  const change: FindingChangeRequest = {
    ...(newStatus !== undefined && { status: newStatus }),
    ...(newSeverity !== undefined && { severity: newSeverity }),
    ...(owner !== undefined && { owner: owner === '' ? null : String(owner) }),
    ...(notes !== undefined && { notes: String(notes) }),
  };
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'set: takes --status, --severity, --owner or --notes');
  const changed = await updateFindings(accounts, operator, operator.origin, ids, change);
  return answerText(invocation, changed, () => table(changed));
};

function word<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad-request') throw error;
    throw new AppError('usage', `${flag}: ${error.message}`);
  }
}

export const findings = onAccounts({ list, show, set });
