/**
 * What an extractor finds: members of `extracted_fields`, without a prototype, because a key may be `__proto__`.
 */

/** Members by name. */
export type Members = Record<string, unknown>;

/** No members yet. */
export function memberSet(): Members {
  return Object.create(null) as Members;
}

/** Sets the member unless the value is missing or `-`, the sign for "nothing" of log formats. */
export function setPresent(members: Members, name: string, value: string | undefined): void {
  if (value !== undefined && value !== '-' && value !== '') members[name] = value;
}
