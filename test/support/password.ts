/** Of every test user who signs in with one. */
export const PASSWORD = 'Plain-Horse 27 battery';
