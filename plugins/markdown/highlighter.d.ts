/** The types of highlighter.js, in place of those highlight.js brings. */

/** What is used of highlight.js, with the languages it calls common. */
export declare const highlighter: {
  /** Undefined for a language it does not know. */
  getLanguage(name: string): object | undefined;
  /** HTML of the code, with a class on every coloured part. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
};
