/**
 * A control that is wrong on purpose: sessions and failed sign-ins are judged by the wall clock alone, and nothing is
 * remembered of a session that was found expired.
 *
 * Usage: bun clock-trusting-server.ts; prints its address. `POST /auth/login` and `GET /auth/me` as the product has them.
 */
const LIFETIME_MS = 7 * 24 * 3_600_000;
const WINDOW_MS = 15 * 60_000;
const MAX_FAILURES = 10;

const sessions = new Map<string, number>();
const failures: number[] = [];

const server = Bun.serve({
  port: 0,
  async fetch(request) {
    if (request.method === 'GET') {
      const expiry = sessions.get(request.headers.get('cookie') ?? '') ?? 0;
      return new Response(null, { status: expiry > Date.now() ? 200 : 401 });
    }
    const { password } = (await request.json()) as { password: string };
    const recent = failures.filter((at) => Math.abs(Date.now() - at) < WINDOW_MS);
    if (recent.length >= MAX_FAILURES) return new Response(null, { status: 429 });
    if (password === 'wrong') {
      failures.push(Date.now());
      return new Response(null, { status: 401 });
    }
    const cookie = `svc_session=${crypto.randomUUID()}`;
    sessions.set(cookie, Date.now() + LIFETIME_MS);
    return new Response(null, { headers: { 'Set-Cookie': cookie } });
  },
});
console.log(server.url.href.replace(/\/$/, ''));
