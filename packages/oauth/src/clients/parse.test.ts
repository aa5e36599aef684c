import { describe, expect, it } from 'vitest'
import { findNameProblem, parseGrantTypes, parseRedirects, parseScopeLimit } from './parse.ts'

describe('findNameProblem(), which checks the name of a client,', () => {
  it.each(['Shop', 'Кофейня', '咖啡店 ☕', 'مقهى', "O'Neill & <Söhne>", 'n'.repeat(191)])(
    'accepts the name %s',
    (name) => expect(findNameProblem(name)).toBeNull(),
  )

  it.each([
    ['', 'required'],
    [' \t', 'required'],
    ['\u200b', 'required'],
    ['\u200b\u2060 \u00ad', 'required'],
    ['\u3164\u2800', 'required'],
    ['\u0301', 'required'],
    ['n'.repeat(192), '191'],
    ['a\u0000b', 'control'],
    ['a\nb', 'control'],
    ['\u202egnp.exe', 'direction'],
    ['\u2066x', 'direction'],
    ['lone \ud800', 'control'],
  ])('returns a description of the problem for the name %j', (name, why) => {
    expect(findNameProblem(name)).toContain(why)
  })
})

describe('parseRedirects', () => {
  const one = 'https://app.example/cb'

  it.each([
    [one, ['authorization_code'], [one]],
    [[one, one], ['implicit'], [one]],
    [`${one},https://b.example`, ['authorization_code'], [one, 'https://b.example']],
    [[`${one}?x=1,2`], ['authorization_code'], [`${one}?x=1,2`]],
    [undefined, ['client_credentials'], []],
    ['', ['password', 'refresh_token'], []],
  ])(
    'returns the redirect URIs for the input %j of a client with the grants %j: %j',
    (redirect, grants, uris) => {
      expect(parseRedirects(redirect, grants, 'https://api.example')).toEqual(uris)
    },
  )

  it.each([
    [undefined, ['authorization_code']],
    ['', ['implicit']],
    ['nowhere', ['client_credentials']],
    [`${one},`, ['authorization_code']],
    [[one, 'javascript:x'], ['authorization_code']],
    ['http://app.example/cb', ['authorization_code']],
    ['mailto:ada@example.com', ['client_credentials']],
  ])('rejects the redirect URIs %j of a client with the grants %j', (redirect, grants) => {
    expect(() => parseRedirects(redirect, grants, 'https://api.example')).toThrow(
      expect.objectContaining({ code: 'validation_failed' }),
    )
  })
})

describe('parseGrantTypes', () => {
  it('returns the code flow with refresh tokens by default, and removes duplicates', () => {
    expect(parseGrantTypes(undefined)).toEqual(['authorization_code', 'refresh_token'])
    expect(parseGrantTypes(['password', 'password'])).toEqual(['password'])
  })

  it('rejects an unknown grant type', () => {
    expect(() => parseGrantTypes(['personal_access' as never])).toThrow('not a grant')
  })
})

describe('parseScopeLimit(), which reads the scopes that a client may request,', () => {
  const defined = new Set(['a', 'b'])

  it('returns the list, or null (no limit) if the list is absent', () => {
    expect(parseScopeLimit(undefined, defined)).toBeNull()
    expect(parseScopeLimit([], defined)).toEqual([])
    expect(parseScopeLimit(['b'], defined)).toEqual(['b'])
  })

  it.each(['c', '*', ''])('rejects the scope list %j', (scope) => {
    expect(() => parseScopeLimit([scope], defined)).toThrow('not defined')
  })
})
