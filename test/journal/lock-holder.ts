// Run as a process of its own: holds the write lock of a journal for some milliseconds. Arguments: file, milliseconds.
import { DatabaseSync } from 'node:sqlite';

const [, , file = '', ms = '0'] = process.argv;
const db = new DatabaseSync(file);
db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
process.stdout.write('locked\n');
setTimeout(() => {
  db.exec('COMMIT');
  db.close();
}, Number(ms));
