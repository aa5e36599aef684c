import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PAGE, writePage } from '../billing-methods.mjs'

it('docs/reference/billing-methods.md matches the features of billing (npm run docs:methods writes it)', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(writePage())
})
