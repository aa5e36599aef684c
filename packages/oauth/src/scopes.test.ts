import { describe, expect, it } from 'vitest'
import {
  assertScopeDefinitions,
  holdsScope,
  narrowScopes,
  parseScope,
  resolveScopes,
} from './scopes.ts'

describe('parseScope', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['   ', []],
    ['a', ['a']],
    ['a b', ['a', 'b']],
    [' a  b ', ['a', 'b']],
    ['b a b', ['b', 'a']],
    ['a\tb', ['a\tb']],
  ])('parses the scope parameter %j as %j', (text, scopes) => {
    expect(parseScope(text)).toEqual(scopes)
  })
})

describe('resolveScopes', () => {
  const defined = new Set(['a', 'b'])

  it.each([
    [[], null, 'refused'],
    [['a'], null, 'refused'],
    [['b', 'a'], null, 'refused'],
    [['a'], ['a'], 'refused'],
    [['*'], null, 'allowed'],
    [['a', '*'], null, 'allowed'],
  ] as const)(
    'grants the requested scopes %j to a client limited to %j, with the wildcard scope %s',
    (requested, client, wildcard) => {
      expect(resolveScopes(requested, { defined, client, wildcard })).toEqual(requested)
    },
  )

  it.each([
    [['c'], null, 'allowed', 'not defined'],
    [['A'], null, 'allowed', 'not defined'],
    [['constructor'], null, 'allowed', 'not defined'],
    [['b'], ['a'], 'allowed', 'may not request'],
    [['a'], [], 'allowed', 'may not request'],
    [['*'], null, 'refused', 'only with the password grant'],
    [['*'], ['a'], 'allowed', 'only with the password grant'],
    [['a"b'], null, 'allowed', 'not allowed'],
    [['a\\b'], null, 'allowed', 'not allowed'],
    [['a\tb'], null, 'allowed', 'not allowed'],
    [['ä'], null, 'allowed', 'not allowed'],
  ] as const)(
    'rejects the requested scopes %j for a client limited to %j, with the wildcard scope %s',
    (requested, client, wildcard, why) => {
      expect(() => resolveScopes(requested, { defined, client, wildcard })).toThrow(why)
    },
  )
})

describe('narrowScopes', () => {
  it.each([
    [['a', 'b'], [], ['a', 'b']],
    [['a', 'b'], ['b'], ['b']],
    [
      ['a', 'b'],
      ['b', 'a'],
      ['b', 'a'],
    ],
    [['*'], [], ['*']],
    [['*'], ['a'], ['a']],
    [['*'], ['*'], ['*']],
  ])(
    'narrows the granted scopes %j to the requested scopes %j and returns %j',
    (granted, requested, scopes) => {
      expect(narrowScopes(granted, requested)).toEqual(scopes)
    },
  )

  it.each([
    [['a'], ['b']],
    [['a'], ['a', 'b']],
    [['a'], ['*']],
    [[], ['a']],
  ])('refuses to turn the granted scopes %j into the requested scopes %j', (granted, requested) => {
    expect(() => narrowScopes(granted, requested)).toThrow('not granted')
  })
})

describe('holdsScope', () => {
  it.each([
    [['a'], 'a', true],
    [['a'], 'b', false],
    [['*'], 'b', true],
    [[], 'a', false],
    [['a'], '*', false],
    [['ab'], 'a', false],
  ])(
    'returns whether the granted scopes %j include the required scope %s: %s',
    (scopes, name, held) => {
      expect(holdsScope(scopes, name)).toBe(held)
    },
  )
})

describe('assertScopeDefinitions', () => {
  it('accepts scope names allowed by RFC 6749 that have a description', () => {
    expect(() => assertScopeDefinitions({ 'read:mail': 'Read', 'https://x/y': 'Y' })).not.toThrow()
  })

  it.each([
    [{ '*': 'All' }],
    [{ '': 'Nothing' }],
    [{ 'a b': 'Two' }],
    [{ 'a"b': 'Quote' }],
    [{ ü: 'Umlaut' }],
    [{ a: '' }],
    [{ a: ' ' }],
    [{ a: 7 as never }],
  ])('rejects the scope definitions %j', (scopes) => {
    expect(() => assertScopeDefinitions(scopes)).toThrow(TypeError)
  })
})
