/**
 * Test data with a fixed seed: the same bytes on every machine. Written once into bench/data (ignored by git).
 */
import { DuckDBInstance } from '@duckdb/node-api';
import ExcelJS from 'exceljs';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Where test data is kept between runs. */
export const DATA_DIR = join(import.meta.dir, 'data');
/** Of all data; another one makes other figures. */
export const SEED = 20_261_121;

/** mulberry32: small, fast and good enough for test data. Numbers in [0, 1). */
export function randomSource(seed = SEED): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const CATEGORIES = ['books', 'garden', 'kitchen', 'music', 'office', 'outdoor', 'toys', 'travel'];
const WORDS = [
  'amber',
  'basin',
  'cobalt',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbor',
  'iris',
  'juniper',
];

export const CSV_HEADER = 'sku,name,category,price,quantity,active,created,note';

/** One row of the eight-column product list; about 63 bytes. */
export function productRow(index: number, random: () => number): string {
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)]!;
  const price = (random() * 100).toFixed(2);
  const day = String(1 + Math.floor(random() * 28)).padStart(2, '0');
  const month = String(1 + Math.floor(random() * 12)).padStart(2, '0');
  return (
    `P${String(index).padStart(7, '0')},${word()} ${word()},` +
    `${CATEGORIES[Math.floor(random() * CATEGORIES.length)]},${price},` +
    `${Math.floor(random() * 500)},${random() < 0.5},2024-${month}-${day},${word()}`
  );
}

/** Path of a CSV of so many product rows, made on first use. */
export async function productCsv(rows: number): Promise<string> {
  mkdirSync(DATA_DIR, { recursive: true });
  const path = join(DATA_DIR, `products-${rows}.csv`);
  if (existsSync(path)) return path;
  const random = randomSource();
  const file = await open(`${path}.part`, 'w');
  let chunk = [CSV_HEADER];
  for (let index = 1; index <= rows; index++) {
    chunk.push(productRow(index, random));
    if (chunk.length >= 50_000 || index === rows) {
      await file.writeFile(`${chunk.join('\n')}\n`);
      chunk = [];
    }
  }
  await file.close();
  renameSync(`${path}.part`, path);
  return path;
}

/** Path of the same rows as a Parquet file of DuckDB's with its default codec and row groups. */
export async function productParquet(rows: number): Promise<string> {
  const csv = await productCsv(rows);
  const path = csv.replace(/csv$/, 'parquet');
  if (existsSync(path)) return path;
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (FROM read_csv('${csv}')) TO '${path}.part' (FORMAT parquet)`);
  connection.closeSync();
  renameSync(`${path}.part`, path);
  return path;
}

/** The worksheet of `productWorkbook`. */
export const SHEET = 'Products';

/** Path of a workbook of one sheet with so many products, in ten columns: two more numbers than the CSV has. */
export async function productWorkbook(rows: number): Promise<string> {
  mkdirSync(DATA_DIR, { recursive: true });
  const path = join(DATA_DIR, `products-${rows}.xlsx`);
  if (existsSync(path)) return path;
  const random = randomSource();
  const book = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: `${path}.part` });
  const sheet = book.addWorksheet(SHEET);
  sheet.addRow([...CSV_HEADER.split(','), 'weight', 'rating']).commit();
  for (let index = 1; index <= rows; index++) {
    const [sku, name, category, price, quantity, active, created, note] = productRow(
      index,
      random,
    ).split(',');
    const numbers = [Math.round(random() * 10_000) / 1000, 1 + Math.floor(random() * 5)];
    sheet
      .addRow([
        ...[sku, name, category, Number(price), Number(quantity), active === 'true'],
        ...[new Date(`${created}T00:00:00Z`), note, ...numbers],
      ])
      .commit();
  }
  await book.commit();
  renameSync(`${path}.part`, path);
  return path;
}
