/** Makes a title fit for an address: lower case, words joined by single dashes. */
export const slug = (title) => title.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
