import type { Command } from '../command.ts';
import { append } from './append.ts';
import { bin } from './bin.ts';
import { dedup, unique } from './dedup.ts';
import { annotate, evaluate, where } from './eval.ts';
import { eventSplit, explode, extract } from './explode.ts';
import { drop, fields, table, toDataframe } from './fields.ts';
import { fillnull } from './fillnull.ts';
import { from } from './from.ts';
import { head, tail } from './head.ts';
import { join } from './join.ts';
import { lookup } from './lookup.ts';
import { rename } from './rename.ts';
import { rex } from './rex.ts';
import { runSavedSearch, savedsearch } from './savedsearch.ts';
import { filter, search } from './search.ts';
import { sort } from './sort.ts';
import { eventstats, groupby, stats } from './stats.ts';
import { timechart } from './timechart.ts';
import { rare, top } from './top.ts';

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
