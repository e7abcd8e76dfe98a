import { getUser } from '../../accounts/identity/users.ts';
import { JsonNumber } from '../../base/json/json.ts';
import type { SavedSearch, SavedSearchInput } from '../../events/saved-searches.ts';
import {
  type FieldErrors,
  notAnObject,
  readText,
  typeName,
} from '../../events/intake/validation.ts';
import type { Database } from '../../store/database.ts';

const MAX_NAME = 255;
const MAX_QUERY_BYTES = 64 * 1024;
const MAX_VIEW = 2048;
const TRUE_WORDS: ReadonlySet<string> = new Set(['t', 'yes', 'y', 'on', 'true', '1']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['f', 'no', 'n', 'off', 'false', '0']);

/** Null: nothing is wrong. */
type ValidateQuery = (query: string, name: string) => Promise<string | null>;

export interface SavedSearchRequest {
  readonly body: unknown;
  /** `?validate=1`. */
  readonly validate: ValidateQuery | null;
  /** Ids of `shared_with` that the caller gave as names. */
  readonly named?: readonly number[];
}

/** Applied to the search as it is when the change is stored, which is after all checks; null for a new one. */
type Change = { readonly inputFor: (old: SavedSearch | null) => SavedSearchInput };

/**
 * With `isPartial` absent members keep their value. `seen` is the search as it was when checking began. Errors are by
 * field.
 */
export async function readSavedSearch(
  db: Database,
  { body, validate, named = [] }: SavedSearchRequest,
  seen: SavedSearch | null,
  isPartial: boolean,
): Promise<Change | { readonly errors: FieldErrors }> {
  if (
    typeof body !== 'object' ||
    body === null ||
    Array.isArray(body) ||
    body instanceof JsonNumber
  ) {
    return { errors: notAnObject(body) };
  }
  const members = body as Record<string, unknown>;
  const errors: FieldErrors = {};
  const name = readText(members, 'name', errors);
  const query = readText(members, 'query', errors);
  for (const [field, value] of [
    ['name', name],
    ['query', query],
  ] as const) {
    if (value === undefined && !isPartial) errors[field] ??= ['This field is required.'];
  }
  if (name !== undefined && [...name].length > MAX_NAME) {
    (errors['name'] ??= []).push(`Ensure this field has no more than ${MAX_NAME} characters.`);
  }
  if (query !== undefined && Buffer.byteLength(query) > MAX_QUERY_BYTES) {
    (errors['query'] ??= []).push(`Ensure this field has no more than ${MAX_QUERY_BYTES} bytes.`);
  }
  const view = readView(members['view'], errors);
  const sharedWith = await readUsers(db, members['shared_with'], errors);
  const isPublic = readFlag(members['is_public'], errors);
  if (validate !== null && query !== undefined && errors['query'] === undefined) {
    const problem = await validate(query, name ?? seen?.name ?? '');
    if (problem !== null) errors['query'] = [problem];
  }
  if (Object.keys(errors).length > 0) return { errors };
  return {
    inputFor: (old) => ({
      name: name ?? old?.name ?? '',
      query: query ?? old?.query ?? '',
      view: view ?? old?.view ?? '',
      sharedWith: sharedWith ?? old?.sharedWith ?? [],
      named,
      isPublic: isPublic ?? old?.isPublic ?? false,
    }),
  };
}

function readView(value: unknown, errors: FieldErrors): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    errors['view'] = ['Not a valid string.'];
    return undefined;
  }
  if (value.length > MAX_VIEW || value.includes('\0'))
    errors['view'] = [`Enter at most ${MAX_VIEW} characters, such as chart=line&log=1.`];
  return value;
}

async function readUsers(
  db: Database,
  value: unknown,
  errors: FieldErrors,
): Promise<number[] | undefined> {
  if (value === undefined) return undefined;
  const refuse = (text: string): undefined => {
    errors['shared_with'] = [text];
    return undefined;
  };
  if (value === null) return refuse('This field may not be null.');
  if (!Array.isArray(value))
    return refuse(`Expected a list of items but got type "${typeName(value)}".`);
  const ids = new Set<number>();
  for (const item of value) {
    const id = typeof item === 'string' && /^\d{1,15}$/.test(item.trim()) ? Number(item) : item;
    if (typeof id !== 'number' || !Number.isInteger(id)) {
      return refuse(`Incorrect type. Expected pk value, received ${typeName(item)}.`);
    }
    if (ids.has(id)) continue;
    if ((await getUser(db, id)) === null)
      return refuse(`Invalid pk "${id}" - object does not exist.`);
    ids.add(id);
  }
  return [...ids];
}

function readFlag(value: unknown, errors: FieldErrors): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === null) {
    errors['is_public'] = ['This field may not be null.'];
    return undefined;
  }
  const word = typeof value === 'object' ? '' : String(value).trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  errors['is_public'] = ['Must be a valid boolean.'];
  return undefined;
}
