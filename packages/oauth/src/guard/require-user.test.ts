import { expect, it } from 'vitest'
import { requireUser } from './require-user.ts'

it('says where user() belongs when no guard was before it', () => {
  expect(() => requireUser(undefined)).toThrow("user() goes behind auth('api')")
})
