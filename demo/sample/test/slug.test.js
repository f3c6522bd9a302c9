import assert from 'node:assert/strict';
import test from 'node:test';
import { slug } from '../src/slug.js';

test('a single word becomes lower case', () => {
  assert.equal(slug('Gyre'), 'gyre');
});

test('several marks in a row become one dash, none at the ends', () => {
  assert.equal(slug('Hello,  World!'), 'hello-world');
});
