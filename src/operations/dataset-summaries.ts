import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { ListParameters } from '../tables/read/list-parameters.ts';
import type { Summary, SummaryWish } from '../tables/read/summary-jobs.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { queryRows } from './datasets.ts';

interface SummaryRequest {
  /** Only `filter` and `q` matter. */
  readonly parameters: ListParameters;
  /** One column, or two for a chart of two. */
  readonly columns: readonly string[];
  readonly wish: SummaryWish;
  readonly signal: AbortSignal;
}

/** Throws `invalid-query` for unknown columns and filters, and what reading throws. */
export async function summariseRows(
  services: App,
  resource: Resource,
  { parameters, columns, wish, signal }: SummaryRequest,
): Promise<Summary> {
  const list = {
    ...parameters,
    columns: columns.map((column) => `"${column.replaceAll('"', '""')}"`),
    limit: null,
    offset: 0,
    sort: '',
    cursor: null,
  };
  return queryRows(services, resource, list, 'json', async ({ table, prepared }) => {
    if (columns.length === 0 || prepared.plan.shape.columns.length === 0) {
      throw new AppError('invalid-query', 'Invalid columns: a column of the file is needed');
    }
    return services.reading.summarise(table, prepared, wish, signal);
  });
}
