/** `Firefox on Linux`; of an unknown program the first 40 characters. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return 'unknown';
  const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari', 'curl'];
  const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'];
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' };
  const find = (words: readonly string[]): string | undefined => {
    const word = words.find((one) => userAgent.includes(one));
    return word === undefined ? undefined : (names[word] ?? word);
  };
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
