import { room } from '../loop/room.ts';

export const impure = room;
