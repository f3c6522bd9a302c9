export const room = 'a room behind a door';
