import { composed } from '../cli/compose.ts';

export const upward = composed;
