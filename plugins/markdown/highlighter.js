/** The only JavaScript here: highlight.js's own declarations would pull a browser's into the type check of everything. */
export { default as highlighter } from 'highlight.js/lib/common';
