import assert from 'node:assert/strict';
import test from 'node:test';
import { splitBill } from '../src/split-bill.js';

test('an even bill is split evenly', () => {
  assert.deepEqual(splitBill(300, 3), [100, 100, 100]);
});

test('no cent is lost', () => {
  assert.deepEqual(splitBill(1000, 3), [334, 333, 333]);
});
