/**
 * The product list in SQLite, as the references have it, and what is known to be right about it.
 */
import { Database } from 'bun:sqlite';
import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { CSV_HEADER, productCsv, randomSource } from './data.ts';

/** Columns of the product list with SQLite types; the row id comes first. */
export const PRODUCT_TABLE = `CREATE TABLE products (_row_id INTEGER PRIMARY KEY, sku TEXT, name TEXT, category TEXT,
  price REAL, quantity INTEGER, active INTEGER, created TEXT, note TEXT)`;

/** Path of a database with so many products in the table `products`, indexed by price; made on first use. */
export async function productDatabase(rows: number): Promise<string> {
  const csv = await productCsv(rows);
  const path = csv.replace(/csv$/, 'sqlite');
  if (existsSync(path)) return path;
  rmSync(`${path}.part`, { force: true });
  const db = new Database(`${path}.part`);
  db.run(PRODUCT_TABLE);
  const insert = db.query('INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  db.run('BEGIN');
  let id = 0;
  for await (const line of createInterface({ input: createReadStream(csv) })) {
    if (line === CSV_HEADER) continue;
    const cells = line.split(',');
    cells[5] = cells[5] === 'true' ? '1' : '0';
    insert.run(++id, ...cells);
  }
  db.run('COMMIT');
  db.run('CREATE INDEX products_price ON products (price)');
  db.close();
  renameSync(`${path}.part`, path);
  return path;
}

/** What bench/peers/duty-server.ts is called in the table. */
export const BARE_DUTIES = 'Bun.serve with the same duties';
/** The list every side is asked for: price over a bound, cheapest first, ties in file order, 100 rows. */
export const LIST_SQL = 'SELECT * FROM products WHERE price > ? ORDER BY price LIMIT 100';
/** The bound of the list that is asked for again and again. */
export const PRICE = 50;

/** The list of `svc`. */
export function listPath(price: number): string {
  const filter = `{"price":{"$gt":${price}}}`;
  return `/api/products/?${new URLSearchParams({ filter, sort: 'price', limit: '100' })}`;
}

/** Bounds for lists that all differ, more of them than anybody remembers; the same ones for every side. */
export function manyPrices(): number[] {
  const random = randomSource();
  return Array.from({ length: 2000 }, () => 10 + Math.round(random() * 8000) / 100);
}

/** Row ids of the list among so many products, from SQLite itself. */
export async function expectedIds(rows: number, price: number): Promise<number[]> {
  const db = new Database(await productDatabase(rows), { readonly: true });
  try {
    return db.query(LIST_SQL).all(price).map(idOf);
  } finally {
    db.close();
  }
}

/** The row id of a row as any side gives it. */
export function idOf(row: unknown): number {
  return (row as { _row_id: number })._row_id;
}

/** Throws unless the two are equal. */
export function requireEqual(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  const text = (value: unknown): string => JSON.stringify(value).slice(0, 300);
  throw new Error(`${what}: expected ${text(expected)}, found ${text(found)}`);
}
