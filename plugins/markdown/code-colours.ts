/** Colours of source code, as classes that the site's stylesheet knows (DS-159, DS-208). */

/** Longer blocks are data; colouring them would take longer than reading them. */
const MAX_CHARACTERS = 64 * 1024;

/** HTML of the code in a language; null when the language is unknown or the code too long to be coloured. */
type Colouring = (code: string, language: string) => string | null;

/** Loads the languages, about 20 ms the first time. */
export async function createColouring(): Promise<Colouring> {
  const { highlighter } = await import('./highlighter.js');
  return (code, language) => {
    if (code.length > MAX_CHARACTERS || highlighter.getLanguage(language) === undefined)
      return null;
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  };
}
