/** @jsxImportSource @kitajs/html */
/** One place for the time: a span back from now, two moments, the zone of days, and how often the search is run again. */
import { timeOf } from '../../language/expressions/time.ts';
import { UtcTime } from '../parts/values.tsx';
import type { Asked } from './explorer-state.ts';

type TimeView = Pick<Asked, 'earliest' | 'latest' | 'timezone' | 'view'>;

/** Both ends in one value. A span without an end lasts until now. */
export const SPANS = [
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-4h', 'Last 4 hours'],
  ['-24h', 'Last 24 hours'],
  ['@d', 'Today'],
  ['-1d@d..@d', 'Yesterday'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
  ['', 'All time'],
] as const;

const UNITS = [
  ['m', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
  ['w', 'weeks'],
] as const;

const REFRESHES = [
  ['', 'Off'],
  ['10', '10 s'],
  ['30', '30 s'],
  ['60', '1 min'],
  ['300', '5 min'],
  ['900', '15 min'],
  ['3600', '1 h'],
] as const;

export function TimePicker({ view }: { view: TimeView }) {
  const { earliest, latest, timezone } = view;
  const present = spanOf(view);
  const zones = [...new Set(['UTC', timezone])];
  const refresh = view.view['refresh'] ?? '';
  return (
    <>
      <input type="hidden" name="earliest" value={earliest} />
      {latest !== '' && <input type="hidden" name="latest" value={latest} />}
      <details class="menu-button time-picker" id="time">
        <summary
          class="button quiet"
          data-span={present}
          data-key="t"
          aria-label={`Time: ${spanText(view)}`}
          safe
        >
          {spanText(view)}
        </summary>
        <div class="time-choices">
          <div class="spans" role="group" aria-label="Back from now">
            {SPANS.map(([span, label]) => (
              <button
                class="plain"
                type="submit"
                name="span"
                value={span === '' ? 'all' : span}
                aria-current={span === present ? 'true' : undefined}
                safe
              >
                {label}
              </button>
            ))}
          </div>
          <div class="stack">
            <fieldset>
              <legend>The last</legend>
              <input type="number" name="last" min="1" max="9999" aria-label="How many" />
              <select name="unit" aria-label="Unit">
                {UNITS.map(([unit, label]) => (
                  <option value={unit} safe>
                    {label}
                  </option>
                ))}
              </select>
            </fieldset>
            <fieldset>
              <legend>Between two times</legend>
              <label>
                <span>
                  From <small class="zone">(UTC)</small>
                </span>
                <input type="datetime-local" name="from" step="1" />
              </label>
              <label>
                <span>
                  To <small class="zone">(UTC)</small>
                </span>
                <input type="datetime-local" name="to" step="1" />
              </label>
            </fieldset>
            <label>
              Days begin in
              <select name="timezone">
                {zones.map((zone) => (
                  <option value={zone} selected={zone === timezone} safe>
                    {zone}
                  </option>
                ))}
              </select>
            </label>
            <label class="refresh">
              Search again every
              <select name="refresh">
                {REFRESHES.map(([seconds, label]) => (
                  <option value={seconds} selected={seconds === refresh} safe>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <button type="submit">Use this time</button>
          </div>
        </div>
      </details>
      <p class="on-paper">
        <span safe>{SPANS.find(([span]) => span === present)?.[1] ?? ''}</span>
        {!SPANS.some(([span]) => span === present) && <PaperSpan view={view} />}
      </p>
    </>
  );
}

function PaperSpan({
  view: { earliest, latest },
}: {
  view: Pick<TimeView, 'earliest' | 'latest'>;
}) {
  return (
    <>
      {earliest === '' ? 'Until' : <End at={earliest} />}
      {earliest === '' || latest === '' ? ' ' : ' – '}
      {latest !== '' && <End at={latest} />}
    </>
  );
}

function End({ at }: { at: string }) {
  const moment = timeOf(at);
  return moment === null ? <span safe>{at}</span> : <UtcTime at={moment} isExact />;
}

function spanOf({ earliest, latest }: Pick<TimeView, 'earliest' | 'latest'>): string {
  return latest === '' ? earliest : `${earliest}..${latest}`;
}

function spanText(view: TimeView): string {
  const { earliest, latest } = view;
  const known = SPANS.find(([span]) => span === spanOf(view));
  if (known !== undefined) return known[1];
  const [, count, unit = ''] = latest === '' ? (/^-(\d+)([a-z]+)$/.exec(earliest) ?? []) : [];
  const noun = UNITS.find(([short]) => short === unit)?.[1];
  if (noun !== undefined) return `Last ${count} ${noun}`;
  if (latest === '' || latest === 'now') return `From ${earliest}`;
  return `${earliest === '' ? 'until' : `${earliest} to`} ${latest}`;
}
