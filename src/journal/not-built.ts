import { Defect } from '../core/fault.ts';

/** Stands for a member of the port until its part is merged. */
export const notBuilt = (member: string): never => {
  throw new Defect(`${member} is not built yet.`);
};
