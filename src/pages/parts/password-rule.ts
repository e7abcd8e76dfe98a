export const PASSWORD_RULE =
  'At least 10 characters that are hard to guess: four or five unrelated words are strong, names, dates and common words are not.';
