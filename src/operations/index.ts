/**
 * Every operation by its noun: a file for a noun, an exported function for a verb. All doors (HTTP, MCP, pages, command
 * line) come through these, so that a right is checked and a change audited in one place.
 */
import * as access from './access.ts';
import * as accounts from './accounts.ts';
import * as apiKeys from './api-keys.ts';
import * as datasets from './datasets.ts';
import * as resources from './resources.ts';
import * as setup from './setup.ts';
import * as uploads from './uploads.ts';

/** The nouns; `access` is the check that the others share. */
export const operations = {
  access,
  accounts,
  apiKeys,
  datasets,
  resources,
  setup,
  uploads,
} as const;
