import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { AppError } from '../base/errors.ts';
import { isDamage } from '../base/sqlite-damage.ts';
import { Catalogue } from './catalogue.ts';
import { Datasets } from './datasets.ts';
import { DAMAGED, openForReading } from './index-file.ts';
import { find, type FindRequest, type FoundPage } from './rank.ts';
import { RowCopies } from './row-copies.ts';

export interface FindOrder extends FindRequest {
  readonly path: string;
  readonly snapshot: string;
  /** Folder of the typed copies. */
  readonly copies: string;
}

type Job = (body: unknown) => Response;

interface OpenIndex {
  readonly db: Database;
  readonly inode: bigint;
  readonly catalogue: Catalogue;
  readonly datasets: Datasets;
}

export function searchJobs(): Record<string, Job> {
  let open: OpenIndex | null = null;
  const copies = new RowCopies();
  return {
    search: (body) => {
      const order = body as FindOrder;
      open = reopened(open, order);
      if (open === null)
        return Response.json({ hits: [], hasMore: false, unread: [] } satisfies FoundPage);
      const { db, catalogue, datasets } = open;
      try {
        db.run('BEGIN');
        const page = find(db, order, {
          catalogue: () => {
            catalogue.follow(db);
            return catalogue;
          },
          datasets,
          copyAt: (name) => copies.at(order.copies, name),
        });
        return Response.json(page);
      } catch (error) {
        if (isDamage(error)) {
          throw new AppError('unavailable', DAMAGED, { cause: error });
        }
        throw error;
      } finally {
        if (db.inTransaction) db.run('ROLLBACK');
      }
    },
  };
}

/** The writer may have put another file at the path. */
function reopened(open: OpenIndex | null, { path, snapshot }: FindOrder): OpenIndex | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (open !== null && open.inode === stats?.ino) return open;
  open?.db.close();
  const db = stats === undefined ? null : openForReading(path);
  const remembered = { catalogue: new Catalogue(snapshot), datasets: new Datasets() };
  return db && { db, inode: stats!.ino, ...remembered };
}
