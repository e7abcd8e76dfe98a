/** Imported into the executable with `{ type: 'text' }`. */
declare module '*.css' {
  const content: string;
  export default content;
}

declare module '*.svg' {
  const content: string;
  export default content;
}

declare module '*.js' {
  const content: string;
  export default content;
}
