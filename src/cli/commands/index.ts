import type { Command } from '../command.ts';
import { addsuperuser } from './addsuperuser.ts';
import { admin } from './admin/index.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { child } from './child.ts';
import { config } from './config.ts';
import { events } from './events/index.ts';
import { licenses } from './licenses.ts';
import { listEndpoints } from './list-endpoints.ts';
import { openapi } from './openapi.ts';
import { restore } from './restore.ts';
import { search } from './search.ts';
import { reindex } from './reindex.ts';
import { serve } from './serve.ts';
import { version } from './version.ts';

export const commands: readonly Command[] = [
  serve,
  check,
  config,
  addsuperuser,
  admin,
  backup,
  restore,
  events,
  listEndpoints,
  reindex,
  search,
  openapi,
  licenses,
  version,
  child,
];
