import { expect, it } from 'vitest'
import { toRequestParams } from './request-objects.ts'

it('toRequestParams() converts the claims of a request object to request parameters', () => {
  const params = toRequestParams(
    {
      iss: 'c',
      client_id: 'c',
      max_age: 5,
      claims: { userinfo: { name: null } },
      resource: ['https://a.example', 'https://b.example'],
      state: null,
    },
    'c',
  )
  expect(Object.fromEntries(params)).toEqual({
    client_id: 'c',
    max_age: '5',
    claims: '{"userinfo":{"name":null}}',
    // Joined by a space, like a repeated form parameter.
    resource: 'https://a.example https://b.example',
  })
})
