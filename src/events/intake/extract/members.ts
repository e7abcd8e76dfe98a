/** Without a prototype, because a key may be `__proto__`. */

export type Members = Record<string, unknown>;

export function memberSet(): Members {
  return Object.create(null) as Members;
}

/** Log formats write `-` for a missing value. */
export function setPresent(members: Members, name: string, value: string | undefined): void {
  if (value !== undefined && value !== '-' && value !== '') members[name] = value;
}
