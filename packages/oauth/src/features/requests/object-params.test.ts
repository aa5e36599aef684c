import { expect, it } from 'vitest'
import { paramsOfObject } from './object-params.ts'

it('reads the claims of an object as the parameters they stand for', () => {
  const params = paramsOfObject(
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
    // As a form with the parameter sent twice is read.
    resource: 'https://a.example https://b.example',
  })
})
