import assert from 'node:assert/strict';
import test from 'node:test';
import { isLeapYear } from '../src/leap-year.js';

test('every fourth year is a leap year', () => {
  assert.equal(isLeapYear(2024), true);
  assert.equal(isLeapYear(2023), false);
});

test('a century is one only when 400 divides it', () => {
  assert.equal(isLeapYear(1900), false);
  assert.equal(isLeapYear(2000), true);
});
