/**
 * What failed, told again at the end of a run: whoever looks at a long log sees its last lines first.
 *
 * Read from the report `bun test` writes, and from its output for what is not in the report: a file that could not be
 * loaded, a run that died.
 */

/** One failed test or check. */
export interface Failure {
  /** The place and name of a test, the name of a check. */
  readonly title: string;
  /** What was expected and found, with the lines of the source; may have many lines. */
  readonly message: string;
}

/** Most lines all failures take together, so that the last hundred lines of a run show them and the sums. */
const MOST_LINES = 80;
/** Most lines of one failure, besides its title. */
const MOST_LINES_EACH = 16;
const MOST_LINE_LENGTH = 300;

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"([^>]*[^/])>([\s\S]*?)<\/testcase>/g;
const FAILURE =
  /<failure (?:type="([^"]*)")?(?: message="([^"]*)")?\s*(?:\/>|>([\s\S]*?)<\/failure>)/;
const BETWEEN_TESTS = /# Unhandled error between tests\n-{3,}\n([\s\S]*?)\n-{3,}/g;

/** The failed tests of a report of `bun test` (JUnit), in its order. */
export function failuresOfReport(report: string): Failure[] {
  const failures: Failure[] = [];
  for (const [, name = '', group = '', attributes = '', content = ''] of report.matchAll(CASE)) {
    const found = FAILURE.exec(content);
    if (found === null) continue;
    const [, type = '', message = '', text = ''] = found;
    const file = / file="([^"]*)"/.exec(attributes)?.[1] ?? '';
    const line = / line="(\d+)"/.exec(attributes)?.[1];
    failures.push({
      title: plain(
        `${file}${line === undefined ? '' : `:${line}`} ${group && `${group} > `}${name}`,
      ),
      message: plain(text.trim() || `${type}: ${message}`),
    });
  }
  return failures;
}

/** Errors outside of any test in what `bun test` printed, such as a test file that could not be loaded. */
export function failuresBetweenTests(output: string): Failure[] {
  return [...output.matchAll(BETWEEN_TESTS)].map(([, message = '']) => ({
    title: 'outside of any test',
    message,
  }));
}

/** The end of what a command printed, for one that failed as a whole. */
export function lastWords(output: string): string {
  return output.trimEnd().split('\n').slice(-MOST_LINES_EACH).join('\n');
}

/** All failures in few lines; what does not fit is counted. Empty when there is none. */
export function describeFailures(failures: readonly Failure[]): string {
  if (failures.length === 0) return '';
  const each = Math.min(MOST_LINES_EACH, Math.max(2, Math.floor(MOST_LINES / failures.length) - 1));
  const told = failures.slice(0, Math.floor(MOST_LINES / (each + 1)));
  const lines = told.flatMap(({ title, message }) => [
    shortened(`(fail) ${title}`),
    ...fewLines(message, each).map((line) => shortened(`    ${line}`)),
  ]);
  const others = failures.length - told.length;
  return [...lines, ...(others === 0 ? [] : [`and ${others} more`])].join('\n');
}

/** The beginning and the end of a text: what was expected, and where. */
function fewLines(text: string, count: number): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length <= count) return lines;
  const last = Math.floor(count / 4);
  return [...lines.slice(0, count - last - 1), '...', ...(last === 0 ? [] : lines.slice(-last))];
}

function shortened(line: string): string {
  return line.length <= MOST_LINE_LENGTH ? line : `${line.slice(0, MOST_LINE_LENGTH)}...`;
}

function plain(xml: string): string {
  const marks: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    amp: '&',
  };
  return xml.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return marks[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? parseInt(hex, 16) : Number(decimal));
  });
}
