/** Gregorian leap years: every fourth year, but for full centuries that 400 does not divide. */
export const isLeapYear = (year) => year % 4 === 0;
