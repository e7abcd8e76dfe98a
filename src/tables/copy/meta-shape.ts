/**
 * Checks the facts stored in a typed copy: a copy that somebody else wrote to is opened to learn its row ids, and a
 * damaged byte may be in a name or number of its JSON.
 */

/** Members that are not named are not checked. */
type Shape = (value: unknown) => boolean;

const isText: Shape = (value) => typeof value === 'string';
const isTextOrNull: Shape = (value) => value === null || isText(value);
const isCount: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber: Shape = (value) => Number.isFinite(value);
const isObject: Shape = (value) => typeof value === 'object' && value !== null;
/** As in `FileStamp`; negative for files older than 1970. */
const isDigits: Shape = (value) => typeof value === 'string' && /^-?\d+$/.test(value);

const isStamp = members({
  size: isCount,
  mtimeNs: isDigits,
  ctimeNs: isDigits,
  inode: isDigits,
});

/** By key of the `meta` table. */
export const META_SHAPES = {
  table: members({
    format: isCount,
    rel: isText,
    sheet: isTextOrNull,
    generation: isText,
    blank: (value) => value === 'empty' || value === 'null',
    companion: isText,
    companionProblem: isTextOrNull,
    companionSchema: isTextOrNull,
    columns: listOf(members({ name: isText, type: isText, position: isCount, counts: isObject })),
    bodyOffset: isCount,
  }),
  state: members({
    stamp: isStamp,
    stampTakenAt: isNumber,
    hash: isTextOrNull,
    sequence: isCount,
    rowCount: isCount,
    lastRowId: isCount,
    counts: listOf(isObject),
    dialect: isObject,
  }),
  journal: members({
    stamp: isStamp,
    deleted: listOf(isCount),
    created: listOf(isCount),
    lastRowId: isCount,
  }),
} satisfies Record<string, Shape>;

function members(shapes: Readonly<Record<string, Shape>>): Shape {
  const named = Object.entries(shapes);
  return (value) =>
    isObject(value) &&
    named.every(([name, shape]) => shape((value as Readonly<Record<string, unknown>>)[name]));
}

function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}
