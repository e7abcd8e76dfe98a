/** @jsxImportSource @kitajs/html */
/**
 * How a file is read: its first lines, the rows they make, and a form to change that. Also shown instead of the rows of an
 * unreadable file, to those who may write. The choices are in the address, so the preview works without script; only the
 * button saves.
 */
import type { App } from '../../app.ts';
import { AppError } from '../../base/errors.ts';
import { encodePath } from '../../base/paths.ts';
import type { TypedPreview } from '../../tables/infer/file-preview.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { readOnlyMode } from '../../http/route.ts';
import {
  type CompanionObject,
  type Companions,
  mayArrange,
  previewFile,
  readCompanions,
  writeCompanions,
} from '../../operations/files/companions.ts';
import { requireAccess } from '../../operations/access.ts';
import { DELIMITERS, optionNames } from '../../tables/infer/companion.ts';
import { ENCODINGS } from '../../tables/types.ts';
import { datasetTitle, trailTo } from '../addresses.ts';
import { problemText } from '../form-request.ts';
import { pageReply } from '../page-reply.ts';
import { HiddenFields, PostForm } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import type { FrameView, Page } from '../frame.tsx';

type Choices = readonly (readonly [value: string, text: string])[];

const DELIMITER_NAMES: Readonly<Record<(typeof DELIMITERS)[number], string>> = {
  ',': 'comma ,',
  ';': 'semicolon ;',
  '\t': 'tab',
  '|': 'bar |',
};
/** Forms lose a tab, or it means nothing chosen. */
const TAB = 'tab';
const NONE = 'none';
const SPACE = 'space';
const IN_FORMS: readonly (readonly [option: string, value: string, inForm: string])[] = [
  ['delimiter', '\t', TAB],
  ['thousands', '', NONE],
  ['thousands', ' ', SPACE],
];

const TYPES: readonly (readonly [value: string, text: string])[] = [
  ['', 'as found'],
  ['string', 'text'],
  ['integer', 'whole number'],
  ['number', 'number'],
  ['boolean', 'true or false'],
  ['date', 'date'],
  ['date-time', 'date and time'],
];
/** A form has at most a megabyte. */
const MAX_TYPED_COLUMNS = 100;

interface Field {
  readonly name: string;
  readonly label: string;
  /** Null: typed. */
  readonly choices: Choices | null;
  readonly placeholder?: string;
}

const FIELDS: readonly Field[] = [
  { name: 'encoding', label: 'Encoding', choices: ENCODINGS.map((one) => [one, one]) },
  {
    name: 'delimiter',
    label: 'Delimiter',
    choices: DELIMITERS.map((one) => [one === '\t' ? TAB : one, DELIMITER_NAMES[one]]),
  },
  { name: 'header_row', label: 'Line of the names', choices: null, placeholder: '1' },
  { name: 'range', label: 'Range', choices: null, placeholder: 'C3:F20' },
  {
    name: 'decimal',
    label: 'Decimal mark',
    choices: [
      [',', 'comma 1,5'],
      ['.', 'point 1.5'],
    ],
  },
  {
    name: 'thousands',
    label: 'Thousands',
    choices: [
      [NONE, 'none'],
      ['.', 'point 1.000'],
      [',', 'comma 1,000'],
      ["'", "apostrophe 1'000"],
      [SPACE, 'space 1 000'],
    ],
  },
  {
    name: 'date_order',
    label: 'Order of dates',
    choices: [
      ['dmy', 'day first'],
      ['mdy', 'month first'],
    ],
  },
  { name: 'units', label: 'Units', choices: [['auto', 'numbers with % or a currency']] },
  {
    name: 'formulas',
    label: 'Formulas without a result',
    choices: [['calculate', 'calculated here']],
  },
  {
    name: 'total_row',
    label: 'Row of totals',
    choices: [
      ['last', 'the last row'],
      ['none', 'none'],
    ],
  },
  { name: 'date_format', label: 'Form of dates', choices: null, placeholder: '%d.%m.%y' },
];

interface LayoutView {
  /** Where the rows of one column are, which this page stands for. */
  readonly rowsHref: string | null;
  readonly name: string;
  readonly title: string;
  readonly page: string;
  readonly problem: string | null;
  readonly refusal: string | null;
  readonly fields: readonly (Field & { readonly value: string })[];
  readonly preview: TypedPreview | null;
  readonly previewProblem: string | null;
  readonly types: ReadonlyMap<string, string>;
  readonly version: string;
  readonly hasCompanions: boolean;
}

/** The caller may read. Throws `permission-denied`, `read-only`. */
export async function fileLayoutReply(
  context: Context,
  resource: Resource,
  shown: {
    readonly status?: number;
    readonly refusal?: string;
    readonly form?: FormValues;
    /** Shown in place of the rows. */
    readonly isOneColumn?: boolean;
  } = {},
): Promise<Reply> {
  const { services } = context;
  await requireArrangement(context, resource);
  const companions = await readCompanions(services, resource);
  const names = namesOf(resource);
  const asked = shown.form?.options ?? (isChosen(context, names) ? chosen(context, names) : null);
  const options = asked ?? companions.options ?? {};
  const known = Object.fromEntries(
    Object.entries(options).filter(([name]) => names.includes(name)),
  );
  let preview: TypedPreview | null = null;
  let previewProblem: string | null = null;
  try {
    preview = await previewFile(services, resource, known);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    previewProblem = problemText(error);
  }
  const view: LayoutView = {
    rowsHref: shown.isOneColumn ? `/ui/${encodePath(resource.canonical)}/?offset=0` : null,
    name: resource.canonical,
    title: datasetTitle(resource),
    page: `/ui/${encodePath(resource.canonical)}/`,
    problem: companions.problem,
    refusal: shown.refusal ?? null,
    fields: FIELDS.filter(({ name }) => names.includes(name)).map((field) => ({
      ...field,
      value: fieldText(field.name, known[field.name]),
    })),
    preview,
    previewProblem,
    types: shown.form?.types ?? declaredTypes(companions),
    version: companions.version,
    hasCompanions: companions.options !== null || companions.schema !== null,
  };
  return pageReply(context, fileLayoutPage, view, { status: shown.status ?? 200 });
}

/** The caller may read and write. */
export async function fileLayoutFormReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  await requireArrangement(context, resource);
  const fields = (await context.form()) ?? new Map<string, string>();
  const { user, origin } = context;
  const actor = { user, origin, name: user.username };
  const form = formValues(fields, namesOf(resource));
  const page = `/ui/${encodePath(resource.canonical)}/`;
  try {
    const ifMatch = [fields.get('version') ?? ''];
    if (fields.get('action') === 'delete') {
      const none = { options: null, schema: null };
      await writeCompanions(services, actor, resource, none, ifMatch);
      return redirectReply(page, 303);
    }
    const present = await readCompanions(services, resource);
    const others = Object.entries(present.options ?? {}).filter(
      ([name]) => !FIELDS.some((field) => field.name === name),
    );
    const options = { ...Object.fromEntries(others), ...form.options };
    const saved = await writeCompanions(
      services,
      actor,
      resource,
      { options: Object.keys(options).length === 0 ? null : options },
      ifMatch,
    );
    const schema = await schemaWith(services, resource, present.schema, form.types);
    if (schema !== undefined) {
      await writeCompanions(services, actor, resource, { schema }, [saved.version]);
    }
    return redirectReply(page, 303);
  } catch (error) {
    if (!(error instanceof AppError) || ![409, 412, 413, 422].includes(error.status)) throw error;
    const { status } = error;
    return fileLayoutReply(context, resource, {
      status,
      refusal: problemText(error),
      form,
    });
  }
}

/** A table inside of a worksheet has its place from the workbook. */
function namesOf({ kind, sheet }: Resource): readonly string[] {
  return sheet?.includes('/') ? [] : optionNames(kind.type);
}

async function requireArrangement(context: Context, resource: Resource): Promise<void> {
  const { services, caller, origin } = context;
  const name = resource.canonical;
  await requireAccess(services, caller, origin, { name, resource, verb: 'write' });
  if (services.config.readonly && context.method === 'POST') throw readOnlyMode();
  if (await mayArrange(services, caller, resource)) return;
  throw new AppError('not-found', 'Not Found');
}

interface FormValues {
  readonly options: CompanionObject;
  /** By column; `''` as found. */
  readonly types: ReadonlyMap<string, string>;
}

const TYPE_FIELD = 'type:';

function formValues(fields: ReadonlyMap<string, string>, names: readonly string[]): FormValues {
  const types = [...fields].flatMap(([name, type]): [string, string][] =>
    name.startsWith(TYPE_FIELD) ? [[name.slice(TYPE_FIELD.length), type]] : [],
  );
  return {
    options: optionsFrom((name) => fields.get(name) ?? '', names),
    types: new Map(types),
  };
}

function isChosen(context: Context, names: readonly string[]): boolean {
  return context.query.has('preview') || names.some((name) => context.query.has(name));
}

function chosen(context: Context, names: readonly string[]): CompanionObject {
  return optionsFrom((name) => context.queryValue(name) ?? '', names);
}

/** The page with options chosen and not yet saved, beside those that are. */
export async function proposedLayout(
  services: App,
  resource: Resource,
  proposed: CompanionObject,
): Promise<string> {
  const { options } = await readCompanions(services, resource);
  const names = namesOf(resource);
  const chosen = Object.entries({ ...options, ...proposed })
    .filter(([name]) => names.includes(name))
    .map(([name, value]): [string, string] => [name, fieldText(name, value)]);
  const query = new URLSearchParams([['layout', '1'], ['preview', '1'], ...chosen]);
  return `/ui/${encodePath(resource.canonical)}/?${query}`;
}

/** The form instead of the rows, where a single column has a delimiter in its name; else null. */
export async function oneColumnReply(
  context: Context,
  resource: Resource,
  columns: readonly { readonly name: string }[],
): Promise<Reply | null> {
  const { services } = context;
  const [column] = columns;
  const isOdd = columns.length === 1 && DELIMITERS.some((mark) => column!.name.includes(mark));
  if (!isOdd || context.query.size > 0) return null;
  if (!optionNames(resource.kind.type).includes('delimiter')) return null;
  if (!(await mayArrange(services, context.caller, resource))) return null;
  const companions = await readCompanions(services, resource);
  if (companions.options !== null) return null;
  const parts = DELIMITERS.map((mark) => column!.name.split(mark).length);
  const delimiter = DELIMITERS[parts.indexOf(Math.max(...parts))]!;
  const form = { options: { delimiter }, types: declaredTypes(companions) };
  return fileLayoutReply(context, resource, { form, isOneColumn: true });
}

/** Empty fields are guessed. */
function optionsFrom(field: (name: string) => string, names: readonly string[]): CompanionObject {
  const entries = names.flatMap((name): [string, unknown][] => {
    const text = field(name).trim();
    if (text === '') return [];
    if (name === 'header_row') return [[name, /^\d{1,9}$/.test(text) ? Number(text) : text]];
    const meant = IN_FORMS.find(([option, , inForm]) => option === name && inForm === text);
    return [[name, meant === undefined ? text : meant[1]]];
  });
  return Object.fromEntries(entries);
}

function fieldText(name: string, value: unknown): string {
  const meant = IN_FORMS.find(([option, written]) => option === name && written === value);
  if (meant !== undefined) return meant[2];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function declaredTypes({ schema }: Companions): ReadonlyMap<string, string> {
  const columns = (schema?.['columns'] ?? {}) as Record<
    string,
    { type?: unknown; format?: unknown }
  >;
  return new Map(
    Object.entries(columns).map(([name, { type, format }]) => [name, String(format ?? type ?? '')]),
  );
}

/** Undefined: unchanged. A schema names all columns, because it is served as it stands. */
async function schemaWith(
  services: App,
  resource: Resource,
  present: CompanionObject | null,
  types: ReadonlyMap<string, string>,
): Promise<CompanionObject | null | undefined> {
  const before = declaredTypes({ schema: present } as Companions);
  const isSame = [...types].every(([name, type]) => (before.get(name) ?? '') === type);
  if (isSame) return undefined;
  const table = await services.tables.current(services.datasets.targetOf(resource));
  const declared = (present?.['columns'] ?? {}) as Record<string, CompanionObject>;
  const columns: [string, CompanionObject][] = table.columns.map(({ name, type }) => {
    const wanted = types.get(name) ?? before.get(name) ?? '';
    const { type: _type, format: _format, ...rest } = declared[name] ?? {};
    return [name, { ...rest, ...declaration(wanted === '' ? type : wanted) }];
  });
  if (present === null && [...types.values()].every((type) => type === '')) return undefined;
  const others = present ?? { type: 'object', name: resource.canonical, primary_key: '_row_id' };
  return { ...others, columns: Object.fromEntries(columns) };
}

function declaration(type: string): CompanionObject {
  return type === 'date' || type === 'date-time' ? { type: 'string', format: type } : { type };
}

export const fileLayoutPage: Page<LayoutView> = {
  name: 'file-layout',
  layout: 'wide',
  title: ({ title }) => `How ${title} is read`,
  scripts: ['live-forms.js'],
  trail: ({ name, page }) => [...trailTo(name), { label: name.split('/').at(-1)!, href: page }],
  content: (view, frame) => (
    <>
      <Problem text={view.refusal} />
      {view.rowsHref !== null && (
        <p class="notice">
          This file reads as one column, and its name holds a delimiter. Choose how it is read, or{' '}
          <a href={view.rowsHref}>see its rows as they are</a>
        </p>
      )}
      <Problem
        text={view.problem === null ? null : `It cannot be read as it should: ${view.problem}`}
      />
      <form class="filter choice" method="get" action={view.page} data-live="preview">
        <HiddenFields
          fields={[
            ['layout', '1'],
            ['preview', '1'],
          ]}
        />
        {view.fields.map((field) => (
          <OptionField field={field} />
        ))}
        <button class="quiet" type="submit">
          Preview
        </button>
      </form>
      <div id="preview">
        <Preview view={view} frame={frame} />
      </div>
    </>
  ),
};

function OptionField({ field }: { field: LayoutView['fields'][number] }) {
  const { name, label, choices, placeholder, value } = field;
  if (choices === null) {
    const inputmode = name === 'header_row' ? 'numeric' : 'text';
    return (
      <label>
        <span safe>{label}</span>
        <input
          type="text"
          {...{ name, value, placeholder, inputmode }}
          autocomplete="off"
          spellcheck="false"
          size="8"
        />
      </label>
    );
  }
  return (
    <label>
      <span safe>{label}</span>
      <select {...{ name }}>
        <option value="">as found</option>
        {choices.map(([one, text]) => (
          <option value={one} selected={one === value} safe>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Preview({ view, frame }: { view: LayoutView; frame: FrameView }) {
  const { preview, previewProblem } = view;
  const problem = previewProblem ?? preview?.problem ?? null;
  return (
    <>
      <p role="status" safe>
        {problem === null ? foundText(preview) : `So it cannot be read: ${problem}`}
      </p>
      {preview !== null && <Rows view={view} preview={preview} />}
      {problem === null && <SaveForm view={view} frame={frame} />}
      {view.hasCompanions && (
        <PostForm frame={frame} to={`${view.page}?layout=1`} does="delete">
          <HiddenFields fields={[['version', view.version]]} />
          <button class="quiet" type="submit">
            Forget what was saved
          </button>
        </PostForm>
      )}
      {preview !== null && <Lines preview={preview} />}
    </>
  );
}

function foundText(preview: TypedPreview | null): string {
  const { found, columns = [] } = preview ?? {};
  const count = `${columns.length} ${columns.length === 1 ? 'column' : 'columns'}`;
  if (!found) return count;
  const { encoding, delimiter, header_row: row, range } = found;
  const parts = [
    count,
    encoding,
    delimiter && DELIMITER_NAMES[delimiter as keyof typeof DELIMITER_NAMES].split(' ')[0],
    row && `names in line ${row}`,
    range && `from ${range.split(':')[0]!}`,
  ];
  return parts.filter((part) => part).join(', ');
}

function SaveForm({ view, frame }: { view: LayoutView; frame: FrameView }) {
  const chosenFields = view.fields
    .filter(({ value }) => value !== '')
    .map(({ name, value }) => [name, value] as const);
  return (
    <PostForm id="save" frame={frame} to={`${view.page}?layout=1`} does="save">
      <HiddenFields fields={[['version', view.version], ...chosenFields]} />
      <button type="submit">Save</button>
    </PostForm>
  );
}

function Rows({ view, preview }: { view: LayoutView; preview: TypedPreview }) {
  const { columns, rows } = preview;
  if (columns.length === 0) return '';
  return (
    <>
      <h2>Rows</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="Rows as they would be read">
        <table class="rows">
          <thead>
            <tr>
              {columns.map((name) => (
                <th scope="col" safe>
                  {name}
                </th>
              ))}
            </tr>
            <tr>
              {columns.map((name, index) => (
                <td>
                  {index < MAX_TYPED_COLUMNS && (
                    <TypeChoice {...{ name, view }} found={typeText(preview.types[index])} />
                  )}
                </td>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN_ROWS).map((row) => (
              <tr>
                {columns.map((_, index) => (
                  <td safe>{row[index] ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const SHOWN_ROWS = 12;

function typeText(found: TypedPreview['types'][number] | undefined): string {
  const name = found?.format ?? found?.type;
  return TYPES.find(([value]) => value === name)?.[1] ?? '';
}

function TypeChoice(props: { name: string; view: LayoutView; found: string }) {
  const { name, view, found } = props;
  const declared = view.types.get(name) ?? '';
  const isOther = !TYPES.some(([value]) => value === declared);
  return (
    <select form="save" name={TYPE_FIELD + name} aria-label={`Type of ${name}`}>
      {TYPES.map(([value, text]) => (
        <option {...{ value }} selected={value === declared} safe>
          {value === '' && found !== '' ? `${text}: ${found}` : text}
        </option>
      ))}
      {isOther && (
        <option value={declared} selected safe>
          {declared}
        </option>
      )}
    </select>
  );
}

function Lines({ preview }: { preview: TypedPreview }) {
  return (
    <>
      <h2>The file</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="First lines of the file">
        <table class="rows lines">
          <tbody>
            {preview.lines.map(({ number, cells }) => (
              <tr aria-current={number === preview.found?.header_row ? 'true' : undefined}>
                <th scope="row" class="number fine" safe>
                  {String(number)}
                </th>
                {cells.map((cell) => (
                  <td>
                    <code safe>{cell}</code>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
