export const schedule = async (_loop: string | undefined, _options: object): Promise<void> => {};
