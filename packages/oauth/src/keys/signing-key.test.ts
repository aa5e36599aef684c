import { expect, it } from 'vitest'
import { keyIdOf } from './signing-key.ts'

it('keyIdOf() returns 16 characters that a command line cannot mistake for an option', () => {
  const ids = Array.from({ length: 300 }, (_, index) => keyIdOf(`{"x":"${index}"}`))
  expect(ids.filter((id) => !/^\w{16}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(300)
})
