// The reading half of the door, light enough for commands that only look.
export { attemptsOf, inputOf, interrupted, nowOf, outputOf } from './run-record.ts';
