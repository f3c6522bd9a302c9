/**
 * What happens to work in progress when the engine is asked to end.
 *   finish      nothing new is started; runs at work go on to their end, at most for the drain time, then they are parked
 *   checkpoint  nothing new is started and the engine leaves at once: every recorded step stays, living agents go on under their shims and
 *               the next engine adopts them
 *   park        agents and checks are ended in order, their work is kept, and the next engine goes on with the runs
 */
export type DrainPolicy = 'finish' | 'checkpoint' | 'park';

export const drainPolicies: readonly DrainPolicy[] = ['finish', 'checkpoint', 'park'];
