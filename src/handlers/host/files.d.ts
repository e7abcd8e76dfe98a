/** Programs in other languages that are imported into the executable with `{ type: 'text' }`. */
declare module '*.py' {
  const content: string;
  export default content;
}
