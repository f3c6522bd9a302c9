import { Fault } from '../core/fault.ts';
import type { Overdraft } from './budget-records.ts';

export const overdrawn = ({ run, unit, limit, spent }: Overdraft): Fault =>
  new Fault('BUDGET_EXHAUSTED', `Run ${run} has spent ${spent} ${unit} of ${limit}.`, {
    hint: 'Resume it with a higher budget, or cancel it.',
    data: { run, unit, limit, spent },
  });
