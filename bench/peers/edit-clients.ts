/**
 * Clients that change one row after another, each row once.
 *
 *     bun edit-clients.ts <url of the dataset> <API key> <clients> <seconds> <first row id>
 *
 * Prints {"seconds","edits":[[row id, quantity]...]} as JSON: every edit that was acknowledged. Fails on any answer but
 * 200.
 */
const [url, key, clients, seconds, first] = process.argv.slice(2);
if (url === undefined || key === undefined || first === undefined) {
  throw new Error('edit-clients.ts <url> <API key> <clients> <seconds> <first row id>');
}
const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
const edits: [rowId: number, quantity: number][] = [];
let next = Number(first);
const startedAt = performance.now();
const endsAt = startedAt + Number(seconds) * 1000;

async function editAgainAndAgain(): Promise<void> {
  while (performance.now() < endsAt) {
    const rowId = next++;
    const quantity = 1_000_000 + rowId;
    const body = JSON.stringify({ action: 'update', data: { _row_id: rowId, quantity } });
    const response = await fetch(url!, { method: 'PATCH', headers, body });
    const answer = await response.text();
    if (response.status !== 200) throw new Error(`row ${rowId}: ${response.status} ${answer}`);
    edits.push([rowId, quantity]);
  }
}

await Promise.all(Array.from({ length: Number(clients) }, editAgainAndAgain));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, edits }));
process.exit(0);

export {};
