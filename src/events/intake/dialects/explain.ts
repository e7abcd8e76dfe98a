/** Lines that are not stored: what would be found in them. Here because a line may be long and made to be slow. */
import type { Dialect, Reading } from '../intake.ts';
import { lenientText } from '../wire/entries.ts';

export const explain: Dialect = {
  name: 'explain',
  read(body, order, tools) {
    const lines = tools.explain(lenientText(body), order.defaults.sourcetype ?? 'default');
    const answer = { status: 200, headers: {}, body: JSON.stringify(lines) };
    const { drafts } = tools;
    return { drafts, rejections: [], rejected: 0, answer: () => answer } satisfies Reading;
  },
};
