/**
 * Workbooks as hostile and damaged packages (B-X, DS-68), made by code: what each is, and why it is refused or that it is
 * read. Every readable one has a column `a` with the one value 1.
 */
import { sheetFile, type TestEntry, workbookEntries, workbookFile, zip } from './workbook-files.ts';

/** A file that is refused. */
export type RefusedFile = readonly [name: string, file: () => Uint8Array, reason: RegExp];
/** A file that is read. */
type AcceptedFile = readonly [name: string, file: () => Uint8Array];

const MIB = 1024 * 1024;
/** A header `a` and a 1. */
export const rows =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>';
/** The parts of a workbook with these rows. */
export const parts = { sheets: { Data: rows } };
const good = workbookEntries(parts);

function changed(name: string, change: Partial<TestEntry>): TestEntry[] {
  return good.map((entry) => (entry.name === name ? { ...entry, ...change } : entry));
}

function withData(name: string, data: string): Buffer {
  return zip(changed(name, { data }));
}

function corrupted(file: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(file);
  change(copy);
  return copy;
}

const SHEET = 'xl/worksheets/sheet1.xml';
const whole = zip(good);
const directory = whole.readUInt32LE(whole.length - 6);
const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes);

/** Refused within a second, with a reason that matches. */
export const refusedWorkbooks: readonly RefusedFile[] = [
  ['an empty file', () => new Uint8Array(0), /empty/],
  ['only the first two bytes', () => Buffer.from('PK'), /no Excel workbook/],
  ['only a local header', () => whole.subarray(0, 200), /no ZIP archive/],
  ['a cut off directory', () => whole.subarray(0, whole.length - 40), /no ZIP archive/],
  ['text', () => Buffer.from('a,b\n1,2\n'), /no Excel workbook/],
  ['bytes after the archive', () => Buffer.concat([whole, zeros(1)]), /no ZIP archive/],
  [
    'a directory that begins earlier than it is',
    () => corrupted(whole, (copy) => copy.writeUInt32LE(directory - 1, copy.length - 6)),
    /not where it should/,
  ],
  [
    'a damaged directory',
    () => corrupted(whole, (copy) => copy.writeUInt8(0, directory)),
    /damaged/,
  ],
  ['fewer entries than announced', () => zip(good, { count: 40 }), /damaged/],
  [
    'a local name that differs',
    () => zip(changed(SHEET, { localName: 'xl/worksheets/sheet2.xml' })),
    /disagree/,
  ],
  [
    'a local size that differs',
    () => corrupted(whole, (copy) => copy.writeUInt32LE(copy.readUInt32LE(22) + 1, 22)),
    /disagree/,
  ],
  [
    'a local method that differs',
    () => corrupted(whole, (copy) => copy.writeUInt16LE(0, 8)),
    /disagree/,
  ],
  [
    'entries that overlap',
    () => zip([...good, { name: 'x', data: '', offset: 0, localName: good[0]!.name }]),
    /disagree|overlap/,
  ],
  [
    'one entry within another',
    () => {
      const inner = zip([{ name: 'inner', data: 'x', isStored: true }]).subarray(0, 36);
      const offset = zip(good).readUInt32LE(zip(good).length - 6) + 30 + 'outer'.length;
      return zip([
        ...good,
        { name: 'outer', data: inner, isStored: true },
        { name: 'inner', data: 'x', isStored: true, offset },
      ]);
    },
    /overlap/,
  ],
  [
    '65,536 entries',
    () =>
      zip(
        Array.from({ length: 65_536 }, (_, index) => ({
          name: `e${index}`,
          data: '',
          isStored: true,
        })),
      ),
    /10000 entries|damaged/,
  ],
  [
    '10,001 entries',
    () =>
      zip(
        Array.from({ length: 10_001 }, (_, index) => ({
          name: `e${index}`,
          data: '',
          isStored: true,
        })),
      ),
    /more than 10000 entries/,
  ],
  [
    '65,536 entries with ZIP64 records',
    () =>
      zip(
        Array.from({ length: 65_536 }, (_, index) => ({
          name: `e${index}`,
          data: '',
          isStored: true,
        })),
        { isLarge: true },
      ),
    /more than 10000 entries/,
  ],
  ['an encrypted entry', () => zip(changed(SHEET, { flags: 1 })), /encrypted/],
  ['an unknown compression', () => zip(changed(SHEET, { method: 99 })), /unsupported method 99/],
  ['a name that leads out', () => zip([...good, { name: '../x', data: '' }]), /not allowed/],
  ['a name with a drive', () => zip([...good, { name: 'C:\\x', data: '' }]), /not allowed/],
  ['an absolute name', () => zip([...good, { name: '/etc/x', data: '' }]), /not allowed/],
  ['a name with NUL', () => zip([...good, { name: 'a\u0000b', data: '' }]), /not allowed/],
  [
    'a name that stands twice',
    () => zip([...good, good.find(({ name }) => name === SHEET)!]),
    /two entries/,
  ],
  [
    'a name that stands twice in other case',
    () => zip([...good, { name: SHEET.toUpperCase(), data: '' }]),
    /two entries/,
  ],
  ['an entry of 400 MB in 390 KB', () => zip(changed(SHEET, { data: zeros(400 * MIB) })), /200:1/],
  [
    'ten entries of 50 MB each',
    () =>
      zip([
        ...good,
        ...Array.from({ length: 10 }, (_, index) => ({ name: `n${index}`, data: zeros(50 * MIB) })),
      ]),
    /200:1/,
  ],
  [
    'a bomb that claims to be small',
    () => zip(changed(SHEET, { data: zeros(100 * MIB), claimedSize: 1000 })),
    /more than it claims/,
  ],
  ['less content than claimed', () => zip(changed(SHEET, { claimedSize: 100_000 })), /damaged/],
  [
    'a flipped bit in the data',
    () => {
      const at = whole.indexOf(SHEET) + SHEET.length + 20;
      return corrupted(whole, (copy) => copy.writeUInt8(copy[at]! ^ 4, at));
    },
    /damaged/,
  ],
  [
    'no relationships',
    () => zip(good.filter(({ name }) => name !== '_rels/.rels')),
    /names no document/,
  ],
  [
    'no relationships of the workbook',
    () => zip(good.filter(({ name }) => name !== 'xl/_rels/workbook.xml.rels')),
    /missing/,
  ],
  [
    'no workbook part',
    () => zip(good.filter(({ name }) => name !== 'xl/workbook.xml')),
    /names no document/,
  ],
  ['no sheets', () => workbookFile({ sheets: {} }), /no worksheet/],
  [
    'two sheets of one name',
    () =>
      withData(
        'xl/workbook.xml',
        '<workbook><sheets><sheet name="a" r:id="rId1"/><sheet name="a" r:id="rId1"/></sheets></workbook>',
      ),
    /two worksheets/,
  ],
  [
    'a hundred thousand sheets',
    () =>
      withData(
        'xl/workbook.xml',
        `<workbook><sheets>${Array.from({ length: 100_000 }, (_, index) => `<sheet name="${index}" r:id="rId1"/>`).join('')}</sheets></workbook>`,
      ),
    /more than 2000 sheets/,
  ],
  ['a sheet part that is missing', () => zip(good.filter(({ name }) => name !== SHEET)), /missing/],
  [
    'a document type with an external entity',
    () =>
      withData(
        'xl/workbook.xml',
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><workbook>&e;</workbook>',
      ),
    /declaration/,
  ],
  [
    'a billion laughs in the shared texts',
    () =>
      zip(
        workbookEntries({
          ...parts,
          strings: [],
          extra: [
            {
              name: 'xl/sharedStrings.xml',
              data: '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><sst><si><t>&b;</t></si></sst>',
            },
          ],
        }),
      ),
    /declaration/,
  ],
  ['an entity declaration among the rows', () => sheetFile('<!ENTITY a "b">'), /declaration/],
  ['an undeclared entity', () => sheetFile(rows.replace('>a<', '>&a;<')), /entity/],
  [
    'a relationship to a file of the machine',
    () => withRelationship('file:///etc/passwd'),
    /missing/,
  ],
  [
    'a relationship to an address',
    () => withRelationship('http://127.0.0.1/sheet1.xml'),
    /missing/,
  ],
  [
    'UTF-16',
    () => zip(changed(SHEET, { data: Buffer.from('\uFEFF<worksheet/>', 'utf16le') })),
    /UTF-8/,
  ],
  [
    'a declared encoding',
    () => sheetFile('<?xml version="1.0" encoding="UTF-7"?><worksheet/>'),
    /UTF-8/,
  ],
  [
    'invalid UTF-8',
    () =>
      zip(
        changed(SHEET, {
          data: Buffer.from(
            `<worksheet><sheetData>${rows.replace('>a<', '>\xff<')}</sheetData></worksheet>`,
            'latin1',
          ),
        }),
      ),
    /invalid UTF-8/,
  ],
  ['rows that are cut off', () => sheetFile(`<worksheet><sheetData>${rows}`), /ends in the middle/],
  [
    'tags that do not nest',
    () => sheetFile('<row r="1"><c r="A1"><v>1</c></v></row>'),
    /malformed/,
  ],
  ['the cell A0', () => sheetFile('<row r="1"><c r="A0"><v>1</v></c></row>'), /A0/],
  ['the cell ZZZZ1', () => sheetFile('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>'), /ZZZZ1/],
  ['the cell XFE1', () => sheetFile('<row r="1"><c r="XFE1"><v>1</v></c></row>'), /XFE1/],
  [
    'the cell A99999999999',
    () => sheetFile('<row r="1"><c r="A99999999999"><v>1</v></c></row>'),
    /A99999999999/,
  ],
  ['the row 0', () => sheetFile('<row r="0"/>'), /cell at 0/],
  ['the row 1048577', () => sheetFile('<row r="1048577"/>'), /1048577/],
  [
    'a cell of another row',
    () => sheetFile('<row r="1"><c r="A2"><v>1</v></c></row>'),
    /stands in row 1/,
  ],
  [
    'a cell that stands twice',
    () => sheetFile('<row r="1"><c r="A1"/><c r="B1"/><c r="A1"/></row>'),
    /stands twice/,
  ],
  ['rows in the wrong order', () => sheetFile('<row r="2"/><row r="1"/>'), /after row 2/],
  [
    'a shared text that does not exist',
    () => sheetFile('<row r="1"><c r="A1" t="s"><v>1</v></c></row>', { strings: ['<t>a</t>'] }),
    /shared text/,
  ],
  [
    'a negative index of a shared text',
    () => sheetFile('<row r="1"><c r="A1" t="s"><v>-1</v></c></row>', { strings: ['<t>a</t>'] }),
    /shared text/,
  ],
  [
    'an unknown cell type',
    () => sheetFile('<row r="1"><c r="A1" t="x"><v>1</v></c></row>'),
    /unknown type/,
  ],
  [
    'a cell type named like a property of every object',
    () => sheetFile('<row r="1"><c r="A1" t="constructor"><v>1</v></c></row>'),
    /unknown type/,
  ],
  [
    'a million attributes without end',
    () => withData('xl/workbook.xml', `<workbook${' a="1"'.repeat(1_000_000)}`),
    /no workbook/,
  ],
  [
    'a text of 1 MiB and one',
    () =>
      sheetFile(
        `<row r="1"><c r="A1" t="inlineStr"><is><t>${'x'.repeat(MIB + 1)}</t></is></c></row>`,
      ),
    /more than 1048576 characters/,
  ],
  [
    'a cell of 40 MB',
    () =>
      sheetFile(
        `<row r="1"><c r="A1" t="inlineStr"><is><t>${'x'.repeat(40 * MIB)}</t></is></c></row>`,
      ),
    /more than 16777216 bytes/,
  ],
  [
    'comments nested without end',
    () => sheetFile(`<row r="1">${'<!--'.repeat(100_000)}`),
    /ends in the middle/,
  ],
  [
    'elements nested without end',
    () => sheetFile(`<row r="1">${'<x>'.repeat(100_000)}`),
    /ends in the middle/,
  ],
  [
    'a binary workbook without its parts',
    () =>
      zip([
        ...good.filter(({ name }) => name !== '_rels/.rels' && name !== 'xl/workbook.xml'),
        { name: 'xl/workbook.bin', data: '' },
        {
          name: '_rels/.rels',
          data: '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        },
      ]),
    /make no sense/,
  ],
];

function withRelationship(target: string): Buffer {
  const entry = good.find(({ name }) => name === 'xl/_rels/workbook.xml.rels')!;
  return withData(entry.name, String(entry.data).replace('worksheets/sheet1.xml', target));
}

/** Read like any other. */
export const acceptedWorkbooks: readonly AcceptedFile[] = [
  ['a minimal workbook', () => whole],
  ['stored entries', () => zip(good.map((entry) => ({ ...entry, isStored: true })))],
  ['sizes after the data', () => zip(good.map((entry) => ({ ...entry, hasDescriptor: true })))],
  [
    'ZIP64 records whose numbers are small, as Java writers make them',
    () =>
      zip(
        good.map((entry) => ({ ...entry, isLarge: true })),
        { isLarge: true },
      ),
  ],
  ['an archive comment', () => zip(good, { comment: 'PK\u0005\u0006 made by a test' })],
  ['a folder entry', () => zip([...good, { name: 'xl/media/', data: '', isStored: true }])],
  [
    'a dimension that lies',
    () =>
      sheetFile(
        `<worksheet><dimension ref="A1:XFD1048576"/><sheetData>${rows}</sheetData></worksheet>`,
      ),
  ],
  [
    'a dimension that is none',
    () => sheetFile(`<worksheet><dimension ref="x"/><sheetData>${rows}</sheetData></worksheet>`),
  ],
  [
    'a cell far away',
    () => sheetFile(`${rows}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`),
  ],
  [
    'styles that refer to each other in a circle',
    () =>
      workbookFile({
        ...parts,
        styles:
          '<styleSheet><cellStyleXfs><xf xfId="0"/></cellStyleXfs><cellXfs><xf xfId="0" numFmtId="0"/></cellXfs></styleSheet>',
      }),
  ],
  [
    'a defined name called constructor',
    () =>
      workbookFile({
        ...parts,
        workbookTail:
          '<definedNames><definedName name="constructor">Data!$A$1</definedName></definedNames>',
      }),
  ],
  [
    'a formula kind named like a property of every object',
    () => sheetFile(rows.replace('<v>', '<f t="__proto__" ref="A1">1</f><v>')),
  ],
  [
    'a hundred thousand attributes',
    () =>
      zip(
        changed('xl/workbook.xml', {
          data: String(good[2]!.data).replace('<sheets>', `<sheets${' a="1"'.repeat(100_000)}>`),
        }),
      ),
  ],
  [
    'a comment at __proto__',
    () =>
      workbookFile({
        ...parts,
        extra: [
          {
            name: 'xl/comments1.xml',
            data: '<comments><commentList><comment ref="__proto__"><text><t>c</t></text></comment></commentList></comments>',
          },
        ],
      }),
  ],
];
