import { describe, expect, it } from 'vitest'
import { parseBearer } from './bearer.ts'
import { assertAnyScope, assertScopes, type Caller } from './guard.ts'

describe('parseBearer', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER a.b-c_d~e+f/g=', 'a.b-c_d~e+f/g='],
  ])('of %j is %j', (header, token) => {
    expect(parseBearer(header)).toBe(token)
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
    'abc',
  ])('refuses %j', (header) => {
    expect(() => parseBearer(header)).toThrow(expect.objectContaining({ code: 'invalid_token' }))
  })
})

describe('scope checks', () => {
  const holding = (...scopes: string[]): Caller => ({
    clientId: 'c',
    tokenId: 't',
    scopes,
    tokenCan: (name) => scopes.includes(name),
  })

  it.each([
    [[], ['a'], false, false],
    [['a'], ['a'], true, true],
    [['a'], ['a', 'b'], false, true],
    [['b', 'a'], ['a', 'b'], true, true],
    [['c'], ['a', 'b'], false, false],
  ])('a caller with %j at %j: all %s, any %s', (held, needed, all, any) => {
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
  })
})
