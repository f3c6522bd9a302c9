// The reading half of the door, light enough for commands that only look.
export { calledNoModel, attemptsOf, inputOf, interrupted, nowOf, outputOf } from './run-record.ts';
