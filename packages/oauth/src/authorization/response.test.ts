import { describe, expect, it } from 'vitest'
import { authorizationResponseUrl } from './response.ts'

const iss = 'https://api.example.com'
const tail = 'iss=https%3A%2F%2Fapi.example.com'

describe('authorizationResponseUrl', () => {
  it.each([
    ['https://a.example/cb', 'query', null, `https://a.example/cb?code=x%26y&${tail}`],
    ['https://a.example/cb', 'query', 'a b', `https://a.example/cb?code=x%26y&state=a%20b&${tail}`],
    ['https://a.example/cb?t=7', 'query', null, `https://a.example/cb?t=7&code=x%26y&${tail}`],
    ['https://a.example/cb', 'fragment', '#', `https://a.example/cb#code=x%26y&state=%23&${tail}`],
    ['com.example.app:/cb', 'query', null, `com.example.app:/cb?code=x%26y&${tail}`],
  ] as const)('%s, %s, state %j', (redirectTo, mode, state, url) => {
    expect(authorizationResponseUrl({ redirectTo, mode, state }, { code: 'x&y' }, iss)).toBe(url)
  })
})
