import { expect, it } from 'vitest'
import { keyIdOf } from './signing-key.ts'

it('names a key by 16 characters that no command line takes for an option', () => {
  const ids = Array.from({ length: 300 }, (_, index) => keyIdOf(`{"x":"${index}"}`))
  expect(ids.filter((id) => !/^\w{16}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(300)
})
