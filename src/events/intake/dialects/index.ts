import type { Dialect } from '../intake.ts';
import { bulk } from './bulk.ts';
import { explain } from './explain.ts';
import { hec } from './hec.ts';
import { journald } from './journald.ts';
import { loki } from './loki.ts';
import { otlp } from './otlp.ts';
import { rest } from './rest.ts';
import { syslog } from './syslog-frames.ts';

export const dialects: readonly Dialect[] = [
  rest,
  hec,
  bulk,
  otlp,
  loki,
  syslog,
  journald,
  explain,
];
