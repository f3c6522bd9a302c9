/** What a call gives that belongs to a parked execution: the handler never hears of it, and is collected with everything it holds. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
