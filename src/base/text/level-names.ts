/** The levels of log lines, by the names that programs give them. */

/** Most severe first. */
const LEVELS = [
  ['fatal', /^(?:fatal|crit|critical|emerg|emergency|alert|panic)$/],
  ['error', /^(?:error|err|severe|fail|failed|failure|bad)$/],
  ['warn', /^(?:warn|warning)$/],
  ['notice', /^notice$/],
  ['info', /^(?:info|information|informational)$/],
  ['ok', /^(?:ok|success|good)$/],
  ['debug', /^debug$/],
  ['trace', /^(?:trace|verbose)$/],
] as const;

export type Level = (typeof LEVELS)[number][0];

/** Null for any other name. */
export function levelNamed(name: string): Level | null {
  const folded = name.toLowerCase();
  return LEVELS.find(([, pattern]) => pattern.test(folded))?.[0] ?? null;
}

/** 0 for the most severe. */
export function rankOf(level: Level): number {
  return LEVELS.findIndex(([name]) => name === level);
}
