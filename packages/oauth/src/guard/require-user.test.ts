import { expect, it } from 'vitest'
import { requireUser } from './require-user.ts'

it("requireUser() throws an error that mentions auth('api') if the route has no guard", () => {
  expect(() => requireUser(undefined)).toThrow("Use user() after auth('api')")
})
