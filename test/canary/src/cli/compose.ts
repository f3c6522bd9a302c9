import { room } from '../loop/room.ts';

export const composed = room;
