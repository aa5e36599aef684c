import { describe, expect, it } from 'vitest'
import { parsePresentedToken } from './bearer.ts'
import { assertAnyScope, assertScopes, type Caller } from './guard.ts'

describe('parsePresentedToken(), which reads the Authorization header,', () => {
  it.each([
    ['Bearer abc', 'Bearer', 'abc'],
    ['bearer abc', 'Bearer', 'abc'],
    ['BEARER a.b-c_d~e+f/g=', 'Bearer', 'a.b-c_d~e+f/g='],
    ['DPoP abc', 'DPoP', 'abc'],
    ['dpop abc', 'DPoP', 'abc'],
  ])('reads %j as the scheme %s and the token %j', (header, scheme, text) => {
    expect(parsePresentedToken(header)).toEqual({ scheme, text })
  })

  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer  abc',
    'Bearer abc ',
    'Bearer abc def',
    'Bearer\tabc',
    'Bearer abc, Bearer abc',
    'Bearer äbc',
    'Basic abc',
    'DPoP',
    'DPoP abc, DPoP abc',
    'Bearer DPoP abc',
    'abc',
  ])('rejects %j', (header) => {
    expect(() => parsePresentedToken(header)).toThrow(
      expect.objectContaining({ code: 'invalid_token' }),
    )
  })
})

describe('the scope checks of the guard', () => {
  const holding = (...scopes: string[]): Caller => ({
    clientId: 'c',
    tokenId: 't',
    scopes,
    claims: {},
    tokenCan: (name) => scopes.includes(name),
    scopeStatus: (name) => (scopes.includes(name) ? 'granted' : 'missing'),
    scopeRefusal: () => null,
  })

  it.each([
    [[], ['a'], false, false],
    [['a'], ['a'], true, true],
    [['a'], ['a', 'b'], false, true],
    [['b', 'a'], ['a', 'b'], true, true],
    [['c'], ['a', 'b'], false, false],
  ])(
    "compare the token's scopes %j with the required scopes %j (assertScopes() passes: %s, assertAnyScope() passes: %s)",
    (held, needed, all, any) => {
      const passes = (check: () => void) => {
        try {
          check()
          return true
        } catch (error) {
          expect(error).toMatchObject({ code: 'insufficient_scope', scopes: needed })
          return false
        }
      }
      expect(passes(() => assertScopes(holding(...held), needed))).toBe(all)
      expect(passes(() => assertAnyScope(holding(...held), needed))).toBe(any)
    },
  )
})
