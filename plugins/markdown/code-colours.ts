/** Longer blocks are data; colouring them would take longer than reading them. */
const MAX_CHARACTERS = 64 * 1024;

/** HTML with classes; null for an unknown language or code that is too long. */
type Colouring = (code: string, language: string) => string | null;

/** About 20 ms the first time. */
export async function createColouring(): Promise<Colouring> {
  const { highlighter } = await import('./highlighter.js');
  return (code, language) => {
    if (code.length > MAX_CHARACTERS || highlighter.getLanguage(language) === undefined)
      return null;
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  };
}
