/** Makes workbooks part by part, reads them back and takes archives apart, for the tests of the workbook kind. */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { editWorkbook, type WorkbookEditPlan } from '../../plugins/workbook/edit/editor.ts';
import { readWorkbook } from '../../plugins/workbook/kind.ts';
import type {
  Cell,
  ReadOptions,
  Segment,
  TableChanges,
  TableLayout,
} from '../../src/tables/types.ts';
import { applied, sourceOf } from './byte-source.ts';

/** An entry to be packed; the members after `data` make it lie. */
export interface TestEntry {
  readonly name: string;
  readonly data: string | Uint8Array;
  readonly isStored?: boolean;
  /** Sizes and checksum follow the data, as streaming writers do. */
  readonly hasDescriptor?: boolean;
  /** Sizes stand in a ZIP64 extra field of the local header. */
  readonly isLarge?: boolean;
  readonly claimedSize?: number;
  readonly localName?: string;
  readonly flags?: number;
  readonly method?: number;
  /** Offset of the local header in the directory, instead of the real one. */
  readonly offset?: number;
}

interface ZipOptions {
  readonly comment?: string;
  /** Adds the ZIP64 end records. */
  readonly isLarge?: boolean;
  readonly count?: number;
}

/** A ZIP archive of these entries. */
export function zip(entries: readonly TestEntry[], options: ZipOptions = {}): Buffer {
  const chunks: Buffer[] = [];
  const records: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, record } = packed(entry, offset);
    chunks.push(local);
    records.push(record);
    offset += local.length;
  }
  const directory = Buffer.concat(records);
  const count = options.count ?? entries.length;
  const large = options.isLarge ? largeEnd(count, directory.length, offset) : Buffer.alloc(0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count & 0xffff, 8);
  end.writeUInt16LE(count & 0xffff, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  const comment = Buffer.from(options.comment ?? '');
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...chunks, directory, large, end, comment]);
}

function largeEnd(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + size), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

function packed(entry: TestEntry, offset: number): { local: Buffer; record: Buffer } {
  const data = Buffer.from(entry.data as string);
  const body = entry.isStored ? data : deflateRawSync(data);
  const method = entry.method ?? (entry.isStored ? 0 : 8);
  const flags = (entry.flags ?? 0) | (entry.hasDescriptor ? 8 : 0);
  const size = entry.claimedSize ?? data.length;
  const name = Buffer.from(entry.name);
  const localName = Buffer.from(entry.localName ?? entry.name);
  const crc = crc32(data);
  const extra = Buffer.alloc(entry.isLarge ? 20 : 0);
  if (entry.isLarge) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(16, 2);
    extra.writeBigUInt64LE(BigInt(size), 4);
    extra.writeBigUInt64LE(BigInt(body.length), 12);
  }
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(20, 4);
  local.writeUInt16LE(flags, 6);
  local.writeUInt16LE(method, 8);
  local.writeUInt32LE(0x5a21_0000, 10);
  if (!entry.hasDescriptor) {
    local.writeUInt32LE(crc, 14);
    local.writeUInt32LE(entry.isLarge ? 0xffffffff : body.length, 18);
    local.writeUInt32LE(entry.isLarge ? 0xffffffff : size, 22);
  }
  local.writeUInt16LE(localName.length, 26);
  local.writeUInt16LE(extra.length, 28);
  const descriptor = Buffer.alloc(entry.hasDescriptor ? 16 : 0);
  if (entry.hasDescriptor) {
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(crc, 4);
    descriptor.writeUInt32LE(body.length, 8);
    descriptor.writeUInt32LE(size, 12);
  }
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(20, 6);
  record.writeUInt16LE(flags, 8);
  record.writeUInt16LE(method, 10);
  record.writeUInt32LE(0x5a21_0000, 12);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(body.length, 20);
  record.writeUInt32LE(size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt32LE(entry.offset ?? offset, 42);
  return {
    local: Buffer.concat([local, localName, extra, body, descriptor]),
    record: Buffer.concat([record, name]),
  };
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** What a workbook is made of; members that are absent are left out or minimal. */
interface WorkbookParts {
  /** Content of each worksheet part, or of its `sheetData` when it does not begin with `<?xml` or `<worksheet`. */
  readonly sheets: Readonly<Record<string, string>>;
  /** Content of `si` elements. */
  readonly strings?: readonly string[];
  readonly styles?: string;
  /** More attributes and children of the workbook. */
  readonly workbookPr?: string;
  readonly workbookTail?: string;
  readonly hidden?: readonly string[];
  /** Further entries, or other content for the ones there are. */
  readonly extra?: readonly TestEntry[];
  /** Relationships of the workbook: id suffix → type and target. */
  readonly relationships?: readonly (readonly [type: string, target: string])[];
}

export const DATE_STYLES =
  `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  `<numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
  `<cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="21"/>` +
  `<xf numFmtId="165"/><xf numFmtId="2"/></cellXfs>` +
  `<dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs></styleSheet>`;

/** The entries of a minimal workbook. */
export function workbookEntries(parts: WorkbookParts): TestEntry[] {
  const names = Object.keys(parts.sheets);
  const relationships = names.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`]);
  if (parts.strings) relationships.push(['sharedStrings', 'sharedStrings.xml']);
  if (parts.styles !== undefined) relationships.push(['styles', 'styles.xml']);
  for (const [type, target] of parts.relationships ?? []) relationships.push([type, target]);
  const entries: TestEntry[] = [
    {
      name: '[Content_Types].xml',
      data:
        `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="application/xml"/>` +
        override('workbook.xml', 'sheet.main') +
        names
          .map((_, index) => override(`worksheets/sheet${index + 1}.xml`, 'worksheet'))
          .join('') +
        (parts.strings ? override('sharedStrings.xml', 'sharedStrings') : '') +
        (parts.styles === undefined ? '' : override('styles.xml', 'styles')) +
        (parts.extra?.some(({ name }) => name === 'xl/calcChain.xml')
          ? override('calcChain.xml', 'calcChain')
          : '') +
        `</Types>`,
    },
    {
      name: '_rels/.rels',
      data: `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      data:
        `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${parts.workbookPr ?? ''}<sheets>` +
        names
          .map((name, index) => {
            const state = parts.hidden?.includes(name) ? ' state="hidden"' : '';
            return `<sheet name="${name}" sheetId="${index + 1}"${state} r:id="rId${index + 1}"/>`;
          })
          .join('') +
        `</sheets>${parts.workbookTail ?? ''}</workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data:
        `<Relationships xmlns="${PACKAGE}/relationships">` +
        relationships
          .map(
            ([type, target], index) =>
              `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
          )
          .join('') +
        `</Relationships>`,
    },
    ...names.map((name, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      data: sheetXml(parts.sheets[name]!),
    })),
  ];
  if (parts.strings) {
    const items = parts.strings.map((item) => `<si>${item}</si>`).join('');
    entries.push({ name: 'xl/sharedStrings.xml', data: `<sst xmlns="${MAIN}">${items}</sst>` });
  }
  if (parts.styles !== undefined) entries.push({ name: 'xl/styles.xml', data: parts.styles });
  const extra = parts.extra ?? [];
  return [...entries.filter(({ name }) => !extra.some((other) => other.name === name)), ...extra];
}

function override(part: string, type: string): string {
  return `<Override PartName="/xl/${part}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
}

function sheetXml(content: string): string {
  if (/^\s*<(?:\?xml|worksheet|!|[a-z]+:worksheet)/.test(content) || content.charCodeAt(0) > 127) {
    return content;
  }
  return `<worksheet xmlns="${MAIN}"><sheetData>${content}</sheetData></worksheet>`;
}

/** A minimal workbook. */
export function workbookFile(parts: WorkbookParts): Buffer {
  return zip(workbookEntries(parts));
}

/** A workbook of one sheet with this `sheetData`. */
export function sheetFile(rows: string, parts: Partial<WorkbookParts> = {}): Buffer {
  return workbookFile({ sheets: { Data: rows }, ...parts });
}

interface ReadTable {
  readonly names: readonly string[];
  /** Without the blank cells at the end of each. */
  readonly rows: Cell[][];
  readonly layout: TableLayout;
}

/** The whole table in `file`. */
export async function readTable(file: Uint8Array, options: ReadOptions = {}): Promise<ReadTable> {
  let names: readonly string[] = [];
  const rows: Cell[][] = [];
  const segments: Segment[] = [];
  let dialect: Record<string, unknown> = {};
  await readWorkbook(sourceOf(file), options, {
    header: (found) => {
      names = found;
    },
    segment: (segment, part) => {
      if (segment.rows !== part.length) throw new Error('a segment counts its rows wrong');
      if (!(segment.bytes > 0)) throw new Error('a segment has no size');
      segments.push({ ...segment });
      rows.push(...part.map(trimmed));
    },
    layout: (found) => {
      dialect = found;
    },
  });
  return { names, rows, layout: { dialect, bodyOffset: 0, segments } };
}

/** Without the blank cells at its end. */
function trimmed(row: readonly Cell[]): Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== '' && cell !== null) + 1);
}

/** Short notation of changes: rows and columns by position. */
export interface Changes {
  readonly updates?: Readonly<Record<number, Readonly<Record<number, Cell>>>>;
  readonly deletes?: readonly number[];
  readonly creates?: readonly Readonly<Record<number, Cell>>[];
}

function cellMap(cells: Readonly<Record<number, Cell>>): Map<number, Cell> {
  return new Map(Object.entries(cells).map(([column, cell]) => [Number(column), cell]));
}

export function changesOf({ updates = {}, deletes = [], creates = [] }: Changes): TableChanges {
  return {
    updates: new Map(Object.entries(updates).map(([row, cells]) => [Number(row), cellMap(cells)])),
    deletes: new Set(deletes),
    creates: creates.map(cellMap),
  };
}

interface EditedWorkbook {
  readonly plan: WorkbookEditPlan;
  readonly file: Buffer;
}

/** Reads the file and edits it. */
export async function edit(
  file: Buffer,
  changes: Changes,
  options: ReadOptions = {},
): Promise<EditedWorkbook> {
  const { layout } = await readTable(file, options);
  const plan = await editWorkbook(sourceOf(file), layout, changesOf(changes));
  return { plan, file: applied(plan, file) };
}

/** Entries of an archive by name, taken apart independently of the code under test. */
export function unzip(file: Buffer): Map<string, { raw: Buffer; data: Buffer; method: number }> {
  const end = file.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const entries = new Map<string, { raw: Buffer; data: Buffer; method: number }>();
  let at = file.readUInt32LE(end + 16);
  for (let count = file.readUInt16LE(end + 10); count > 0; count--) {
    const nameLength = file.readUInt16LE(at + 28);
    const name = file.toString('utf8', at + 46, at + 46 + nameLength);
    const method = file.readUInt16LE(at + 10);
    const size = file.readUInt32LE(at + 20);
    const local = file.readUInt32LE(at + 42);
    const from = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    const body = file.subarray(from, from + size);
    const data = method === 0 ? body : inflateRawSync(body);
    if (crc32(data) !== file.readUInt32LE(at + 16)) throw new Error(`${name}: wrong checksum`);
    if (data.length !== file.readUInt32LE(at + 24)) throw new Error(`${name}: wrong size`);
    entries.set(name, { raw: file.subarray(local, from + size), data, method });
    at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return entries;
}

/** Text of a part. */
export function partOf(file: Buffer, name: string): string {
  const entry = unzip(file).get(name);
  if (!entry) throw new Error(`no part ${name}`);
  return entry.data.toString('utf8');
}

/** Names of the parts whose bytes (local header included) are not the same in both files, added and removed ones too. */
export function changedParts(before: Buffer, after: Buffer): string[] {
  const old = unzip(before);
  const now = unzip(after);
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names]
    .filter((name) => {
      const entry = old.get(name);
      return entry === undefined || !now.get(name)?.raw.equals(entry.raw);
    })
    .sort();
}
