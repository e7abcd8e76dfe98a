import type { Command } from '../command.ts';
import { annotate } from './annotate.ts';
import { append } from './append.ts';
import { bin } from './bin.ts';
import { dedup } from './dedup.ts';
import { drop } from './drop.ts';
import { evaluate } from './eval.ts';
import { eventSplit } from './event-split.ts';
import { eventstats } from './eventstats.ts';
import { explode } from './explode.ts';
import { extract } from './extract.ts';
import { fields } from './fields.ts';
import { fillnull } from './fillnull.ts';
import { filter } from './filter.ts';
import { from } from './from.ts';
import { groupby } from './groupby.ts';
import { head } from './head.ts';
import { join } from './join.ts';
import { lookup } from './lookup.ts';
import { rare } from './rare.ts';
import { rename } from './rename.ts';
import { rex } from './rex.ts';
import { runSavedSearch } from './run-saved-search.ts';
import { savedsearch } from './savedsearch.ts';
import { search } from './search.ts';
import { sort } from './sort.ts';
import { stats } from './stats.ts';
import { table } from './table.ts';
import { tail } from './tail.ts';
import { timechart } from './timechart.ts';
import { toDataframe } from './to-dataframe.ts';
import { top } from './top.ts';
import { unique } from './unique.ts';
import { where } from './where.ts';

export const commands: readonly Command[] = [
  annotate,
  append,
  bin,
  dedup,
  drop,
  evaluate,
  eventSplit,
  eventstats,
  explode,
  extract,
  fields,
  fillnull,
  filter,
  from,
  groupby,
  head,
  join,
  lookup,
  rare,
  rename,
  rex,
  runSavedSearch,
  savedsearch,
  search,
  sort,
  stats,
  table,
  tail,
  timechart,
  toDataframe,
  top,
  unique,
  where,
];
