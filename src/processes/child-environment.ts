/** Not the server's secrets, nor variables that make a runtime or the dynamic linker run other code. */

const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ'] as const;
// BUN_OPTIONS, BUN_BE_BUN, NODE_OPTIONS and LD_PRELOAD change what code runs.
const FORBIDDEN = /^(?:BUN_|NODE_OPTIONS$|LD_)/;

/** PATH, HOME, LANG and TZ of `source` where set, and `extra` without forbidden names. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = source[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const [name, value] of Object.entries(extra)) {
    if (!FORBIDDEN.test(name)) environment[name] = value;
  }
  return environment;
}
