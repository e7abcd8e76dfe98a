import type { AccountsApp } from '../../app.ts';
import { auditActions, auditList } from '../../accounts/audit/audit.ts';
import { csvCell } from '../../base/text/csv-cell.ts';
import type { ListPage } from '../../store/list-source.ts';
import { type Administrator, type ListRequest, listOf } from '../administration.ts';

/** Newest first. Throws as `listOf`. */
export const listAudit = listOf(auditList);

export function listAuditActions({ db }: AccountsApp, _admin: Administrator): Promise<string[]> {
  return auditActions(db);
}

export const AUDIT_FORMATS = ['ndjson', 'csv'] as const;
type AuditFormat = (typeof AUDIT_FORMATS)[number];

/**
 * Every entry that matches, as pieces of text, ignoring paging parameters. Reads a page at a time. Throws as
 * `listOf` before the first piece.
 */
export async function exportAudit(
  services: AccountsApp,
  admin: Administrator,
  { query, exact }: ListRequest,
  format: AuditFormat,
): Promise<AsyncIterable<string>> {
  const page = async (cursor: string | null): Promise<ListPage> => {
    const paged = new URLSearchParams(query);
    for (const name of ['offset', 'cursor', 'limit']) paged.delete(name);
    if (cursor !== null) paged.set('cursor', cursor);
    return listAudit(services, admin, { query: paged, exact });
  };
  return exported(await page(null), page, format);
}

async function* exported(
  first: ListPage,
  next: (cursor: string) => Promise<ListPage>,
  format: AuditFormat,
): AsyncGenerator<string> {
  const names = auditList.columns.map(({ name }) => name);
  if (format === 'csv') yield `${names.join(',')}\n`;
  for (let page = first; ; page = await next(page.nextCursor)) {
    yield page.items.map((item) => lineOf(item, names, format)).join('');
    if (page.nextCursor === null) return;
  }
}

function lineOf(
  item: ListPage['items'][number],
  names: readonly string[],
  format: AuditFormat,
): string {
  if (format === 'ndjson') return `${JSON.stringify(item)}\n`;
  return `${names.map((name) => csvCell(String(item[name] ?? ''))).join(',')}\n`;
}
