import { expect, it } from 'vitest'
import { deriveKeyId } from './signing-key.ts'

it('deriveKeyId() returns 16 characters that a command line cannot mistake for an option', () => {
  const ids = Array.from({ length: 300 }, (_, index) => deriveKeyId(`{"x":"${index}"}`))
  expect(ids.filter((id) => !/^\w{16}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(300)
})
