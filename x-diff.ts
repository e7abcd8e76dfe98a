import { DuckDBInstance } from '@duckdb/node-api';
import { table } from '/tmp/corpus.ts';
import { readdirSync } from 'node:fs';
const i = await DuckDBInstance.create(':memory:'); const c = await i.connect();
const norm = (v: any): any => {
  if (v === null || v === undefined) return null;
  if (typeof v === 'bigint') return String(v);
  if (typeof v === 'number') return String(v === 0 ? 0 : v);
  if (typeof v === 'boolean') return String(v);
  if (typeof v === 'object') return Array.isArray(v) ? (v.length&&v.every(e=>e&&typeof e==='object'&&Object.keys(e).join()==='key,value')? Object.fromEntries(v.map(e=>[e.key,norm(e.value)])) : v.map(norm)) : Object.fromEntries(Object.entries(v).map(([k, x]) => [k, norm(x)]));
  let s = v as string;
  s = s.replace(/^(\d{4,}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/, '$1 $2').replace(/Z$/, '').replace(/\+00(:00)?$/, '');
  s = s.replace(/(\d\d:\d\d:\d\d)\.(\d+)$/, (_, a, f) => f.replace(/0+$/, '') ? a + '.' + f.replace(/0+$/, '') : a);
  return s;
};
let same = 0;
for (const dir of process.argv.slice(2)) for (const f of readdirSync(dir).filter(f => f.endsWith('.parquet')).sort()) {
  let theirs: any[] | string, ours: any[] | string, cols: any;
  try { const r = await c.runAndReadAll(`select * from read_parquet('${dir}/${f}')`); theirs = r.getRowsJson(); } catch (e: any) { theirs = String(e.message).slice(0, 120); }
  try { const t = await table(dir + '/' + f); ours = t.rows; cols = t.cols; } catch (e: any) { ours = 'ERR ' + e.message + (e.cause?.stack ?? ''); }
  if (typeof theirs === 'string' || typeof ours === 'string') { console.log(f, '| duck:', typeof theirs === 'string' ? theirs : 'ok', '| ours:', typeof ours === 'string' ? ours : 'ok ' + ours.length); continue; }
  if (theirs.length !== ours.length) { console.log(f, 'ROWS', theirs.length, ours.length); continue; }
  let bad = 0;
  for (let r = 0; r < ours.length && bad < 3; r++) for (let k = 0; k < ours[r].length; k++) {
    let a: any = ours[r][k], b: any = theirs[r]![k];
    if (cols[k].type.kind === 'nested' && a !== null) a = JSON.parse(a);
    if (cols[k].type.kind==='float' && a!==null) { if (cols[k].type.bits<64) b = Math.fround(Number(b)), a = Math.fround(a); } if (b==='NaN'||b==='Infinity'||b==='-Infinity') b=null; if (cols[k].type.kind==='opaque' && typeof b==='string' && b.includes('\\x')) a=b; if (cols[k].type.kind==='decimal' && b!==null) { b = String(b).replace(/(\.\d*?)0+$/,'$1').replace(/\.$/,''); }
    const [x, y] = [JSON.stringify(norm(a)), JSON.stringify(norm(b))];
    if (x !== y) { if (bad++ < 2) console.log(f, `row ${r} col ${k} ${JSON.stringify(cols[k].type)}`, '\n   ours', x.slice(0, 200), '\n   duck', y.slice(0, 200)); }
  }
  if (!bad) same++;
}
console.log('same', same);
