// The reading half of the door, light enough for commands that only look.
export { breakerRegister, noticeRegister, parkedRegister } from './registers.ts';
export {
  calledNoModel,
  exitOfTick,
  attemptsOf,
  inputOf,
  interrupted,
  isTaskRun,
  nowOf,
  outputOf,
  taskHandler,
  tickHandler,
  tickInputOf,
  tickOutputOf,
} from './run-record.ts';
