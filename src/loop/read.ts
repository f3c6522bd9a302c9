// The reading half of the door, light enough for commands that only look.
export { attemptsOf, inputOf, interrupted, outputOf } from './run-record.ts';
