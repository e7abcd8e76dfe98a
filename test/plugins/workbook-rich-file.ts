/** A workbook with what edits must not lose: made by exceljs, with a chart, a pivot table and macros put in by hand. */
import ExcelJS from 'exceljs';
import { type TestEntry, unzip, zip } from './workbook-files.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** Sheets `Cover` (hidden), `Stock` (20 rows; a table, formulas, dates, formats, notes, pictures) and `Sums`. */
export async function richWorkbook(): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  book.created = new Date(0);
  const cover = book.addWorksheet('Cover', { state: 'hidden' });
  cover.getCell('A1').value = 'Title';
  cover.mergeCells('A1:C3');
  addStock(book);
  const sums = book.addWorksheet('Sums');
  sums.getCell('A1').value = { formula: 'SUM(Stock!D2:D21)', result: 1 };
  book.definedNames.add('Stock!$D$2:$D$21', 'Prices');
  return withForeignParts(Buffer.from(await book.xlsx.writeBuffer()));
}

function addStock(book: ExcelJS.Workbook): void {
  const stock = book.addWorksheet('Stock', { views: [{ state: 'frozen', ySplit: 1 }] });
  stock.addTable({
    name: 'Stocks',
    ref: 'A1',
    headerRow: true,
    style: { theme: 'TableStyleMedium2', showRowStripes: true },
    columns: ['id', 'name', 'group', 'price', 'when', 'ok', 'double'].map((name) => ({
      name,
      filterButton: true,
    })),
    rows: Array.from({ length: 20 }, (_, index) => [
      index + 1,
      `Item ${index + 1} <&> é`,
      ['x', 'y', 'z'][index % 3],
      (index + 1) * 1.25,
      new Date(Date.UTC(2024, 0, index + 1)),
      index % 2 === 0,
      index,
    ]),
  });
  for (let row = 2; row <= 21; row++) {
    stock.getCell(`D${row}`).numFmt = '#,##0.00 [$€]';
    stock.getCell(`D${row}`).font = { bold: true, color: { argb: 'FF00AA00' } };
    stock.getCell(`E${row}`).numFmt = 'yyyy-mm-dd';
    stock.getCell(`G${row}`).value =
      row === 2
        ? ({
            formula: 'D2*2',
            result: 2.5,
            shareType: 'shared',
            ref: 'G2:G21',
          } as ExcelJS.CellValue)
        : { sharedFormula: 'G2', result: (row - 1) * 2.5 };
  }
  stock.getCell('B2').note = 'A note';
  stock.getCell('J1').value = { text: 'Link', hyperlink: 'https://example.org/' };
  stock.getCell('C5').dataValidation = { type: 'list', allowBlank: true, formulae: ['"x,y,z"'] };
  stock.addConditionalFormatting({
    ref: 'D2:D21',
    rules: [
      {
        type: 'cellIs',
        operator: 'greaterThan',
        priority: 1,
        formulae: [10],
        style: { font: { italic: true } },
      },
    ],
  });
  const image = book.addImage({ base64: PIXEL, extension: 'png' });
  stock.addImage(image, 'L2:M4');
  stock.pageSetup.printArea = 'A1:G21';
}

/** Chart, pivot table, macros: parts that no library here can write, with the relationships that make them count. */
function withForeignParts(file: Buffer): Buffer {
  const foreign: TestEntry[] = [
    {
      name: 'xl/charts/chart1.xml',
      data: `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:barChart><c:barDir val="col"/><c:ser><c:idx val="0"/><c:order val="0"/><c:val><c:numRef><c:f>Stock!$D$2:$D$21</c:f></c:numRef></c:val></c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId val="2"/><c:crossAx val="1"/></c:valAx></c:plotArea></c:chart></c:chartSpace>`,
    },
    {
      name: 'xl/pivotCache/pivotCacheDefinition1.xml',
      data: `<pivotCacheDefinition xmlns="${MAIN}"><cacheSource type="worksheet"><worksheetSource ref="A1:G21" sheet="Stock"/></cacheSource><cacheFields count="0"/></pivotCacheDefinition>`,
    },
    {
      name: 'xl/vbaProject.bin',
      data: Uint8Array.from({ length: 5000 }, (_, index) => index * 31),
    },
    { name: 'customXml/item1.xml', data: '<properties><a>1</a></properties>' },
  ];
  const entries = [...unzip(file)].map(([name, { data }]) => ({
    name,
    data: withReferences(name, data),
  }));
  return zip([...entries, ...foreign]);
}

function withReferences(name: string, data: Buffer): Buffer {
  const add = (before: string, text: string): Buffer =>
    Buffer.from(data.toString('utf8').replace(before, text + before));
  if (name === '[Content_Types].xml') {
    return add(
      '</Types>',
      '<Override PartName="/xl/charts/chart1.xml" ContentType="application/vnd.openxmlformats-officedocument.drawingml.chart+xml"/>' +
        '<Override PartName="/xl/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/>',
    );
  }
  if (name === 'xl/drawings/_rels/drawing1.xml.rels') {
    return add(
      '</Relationships>',
      '<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart" Target="../charts/chart1.xml"/>',
    );
  }
  if (name === 'xl/drawings/drawing1.xml') {
    return add(
      '</xdr:wsDr>',
      '<xdr:twoCellAnchor><xdr:from><xdr:col>9</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>6</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>15</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>20</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to><xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="9" name="Chart 1"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" x="0" y="0"/><a:ext xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" cx="0" cy="0"/></xdr:xfrm><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId9"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>',
    );
  }
  return data;
}
