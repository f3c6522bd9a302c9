// Named slots: how much may happen at once. They live with the engine, because a dead engine performs nothing.
import type { Amounts } from '../port.ts';
import { tellChange } from './life.ts';
import type { MemoryState } from './state.ts';

export interface Slots {
  /** @returns what gives them back, or undefined while not all are free. First asked, first served, higher priority before. */
  take(ticket: object): (() => void) | undefined;
  /** Stands in line. Every ticket is taken or dropped. */
  ask(wanted: Amounts, priority: number): object;
  drop(ticket: object): void;
  /** The first name that asks for more than there will ever be. */
  beyond(wanted: Amounts): string | undefined;
}

interface Ticket {
  readonly wanted: Amounts;
  readonly priority: number;
}

export const createSlots = (limits: Amounts, state: MemoryState): Slots => {
  const used = new Map<string, number>();
  const line: Ticket[] = [];
  const limitOf = (name: string): number => limits[name] ?? Infinity;

  const isFree = ({ wanted }: Ticket): boolean =>
    Object.entries(wanted).every(([name, amount]) => (used.get(name) ?? 0) + amount <= limitOf(name));
  const add = (wanted: Amounts, sign: 1 | -1): void => {
    for (const [name, amount] of Object.entries(wanted)) used.set(name, (used.get(name) ?? 0) + sign * amount);
  };
  const drop = (ticket: object): void => {
    const index = line.indexOf(ticket as Ticket);
    if (index >= 0) line.splice(index, 1);
  };
  /** Nobody passes one who waits for the same name. */
  const isFirst = (ticket: Ticket): boolean =>
    line.slice(0, line.indexOf(ticket)).every((before) => !Object.keys(ticket.wanted).some((name) => name in before.wanted));

  return {
    ask: (wanted, priority) => {
      const ticket = { wanted, priority };
      const at = line.findIndex((other) => other.priority < priority);
      line.splice(at < 0 ? line.length : at, 0, ticket);
      return ticket;
    },
    take: (given) => {
      const ticket = given as Ticket;
      if (!isFirst(ticket) || !isFree(ticket)) return undefined;
      drop(ticket);
      add(ticket.wanted, 1);
      return () => {
        add(ticket.wanted, -1);
        tellChange(state);
      };
    },
    drop: (ticket) => {
      drop(ticket);
      tellChange(state);
    },
    beyond: (wanted) => Object.entries(wanted).find(([name, amount]) => amount > limitOf(name))?.[0],
  };
};
