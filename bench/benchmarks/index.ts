/**
 * The benchmarks, in the order they run.
 */
import type { Benchmark } from '../benchmark.ts';
import { datasetStats } from './dataset-stats.ts';
import { deepPage } from './deep-page.ts';
import { editLoad } from './edit-load.ts';
import { editXlsx } from './edit-xlsx.ts';
import { edit } from './edit.ts';
import { exportRows } from './export.ts';
import { findGrowth } from './find-growth.ts';
import { find } from './find.ts';
import { firstTouchParquet } from './first-touch-parquet.ts';
import { firstTouchXlsx } from './first-touch-xlsx.ts';
import { firstTouch } from './first-touch.ts';
import { dashboard } from './dashboard.ts';
import { grid } from './grid.ts';
import { growth } from './growth.ts';
import { landing } from './landing.ts';
import { listFloor } from './list-floor.ts';
import { ingestDialects } from './ingest-dialects.ts';
import { ingestGrowth } from './ingest-growth.ts';
import { ingestOne } from './ingest-one.ts';
import { ingest } from './ingest.ts';
import { list } from './list.ts';
import { loop } from './loop.ts';
import { overhead } from './overhead.ts';
import { pipeline } from './pipeline.ts';
import { point } from './point.ts';
import { ranking } from './ranking.ts';
import { search } from './search.ts';
import { searchIndex } from './search-index.ts';
import { sealed } from './sealed.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { stats } from './stats.ts';

export const benchmarks: readonly Benchmark[] = [
  list,
  listFloor,
  point,
  deepPage,
  firstTouch,
  firstTouchParquet,
  firstTouchXlsx,
  exportRows,
  edit,
  editLoad,
  editXlsx,
  ingest,
  ingestOne,
  ingestDialects,
  ingestGrowth,
  find,
  findGrowth,
  stats,
  datasetStats,
  pipeline,
  sealed,
  overhead,
  search,
  searchIndex,
  ranking,
  grid,
  dashboard,
  loop,
  start,
  landing,
  size,
  growth,
];
