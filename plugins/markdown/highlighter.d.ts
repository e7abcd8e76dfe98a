/** The part of highlight.js in use, with its common languages. */
export declare const highlighter: {
  /** Undefined for an unknown language. */
  getLanguage(name: string): object | undefined;
  /** HTML, with a class on every coloured part. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
};
