/**
 * Averages of Seattle's weather by month, from the dataset beside this file: GET /api/climate/monthly/?year=2013
 *
 * A handler is a file that exports a router. It runs beside the server, in the document root, and may read what is there.
 */
import { Elysia, t } from 'elysia';

const FILE = `${process.env.SVC_DOCROOT}/climate/seattle-weather.csv`;

interface Month {
  days: number;
  rain: number;
  warmest: number;
}

async function months(year: number): Promise<Map<string, Month>> {
  const [, ...lines] = (await Bun.file(FILE).text()).trimEnd().split('\n');
  const found = new Map<string, Month>();
  for (const line of lines) {
    const [date = '', rain, warmest] = line.split(',');
    if (!date.startsWith(`${year}-`)) continue;
    const name = date.slice(0, 7);
    const month = found.get(name) ?? { days: 0, rain: 0, warmest: -Infinity };
    month.days += 1;
    month.rain += Number(rain);
    month.warmest = Math.max(month.warmest, Number(warmest));
    found.set(name, month);
  }
  return found;
}

export const router = new Elysia()
  .get(
    '/',
    async ({ query, status }) => {
      const found = await months(query.year);
      if (found.size === 0) return status(404, { detail: `No weather of ${query.year}` });
      return [...found].map(([month, { days, rain, warmest }]) => ({
        month,
        days,
        rain_mm: Math.round(rain * 10) / 10,
        warmest_c: warmest,
      }));
    },
    {
      query: t.Object({ year: t.Integer({ default: 2015, description: 'From 2012 to 2015' }) }),
      detail: { summary: 'Weather of a year by month' },
    },
  )
  .get('/me', ({ headers }) => `You are ${headers['x-svc-user']}\n`, {
    detail: { summary: 'Who is calling' },
  });
