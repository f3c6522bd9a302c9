// The reading half of the door, light enough for commands that only look.
export { noticeRegister } from './registers.ts';
export {
  calledNoModel,
  attemptsOf,
  inputOf,
  interrupted,
  isTaskRun,
  nowOf,
  outputOf,
  taskHandler,
  tickHandler,
  tickOutputOf,
} from './run-record.ts';
