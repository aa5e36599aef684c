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
  ])('%j is %j', (text, scopes) => {
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
  ] as const)('%j, client %j, * %s: granted as asked', (requested, client, wildcard) => {
    expect(resolveScopes(requested, { defined, client, wildcard })).toEqual(requested)
  })

  it.each([
    [['c'], null, 'allowed', 'not defined'],
    [['A'], null, 'allowed', 'not defined'],
    [['constructor'], null, 'allowed', 'not defined'],
    [['b'], ['a'], 'allowed', 'may not ask'],
    [['a'], [], 'allowed', 'may not ask'],
    [['*'], null, 'refused', 'password-grant'],
    [['*'], ['a'], 'allowed', 'password-grant'],
    [['a"b'], null, 'allowed', 'not allowed'],
    [['a\\b'], null, 'allowed', 'not allowed'],
    [['a\tb'], null, 'allowed', 'not allowed'],
    [['ä'], null, 'allowed', 'not allowed'],
  ] as const)('%j, client %j, * %s: refused', (requested, client, wildcard, why) => {
    expect(() => resolveScopes(requested, { defined, client, wildcard })).toThrow(why)
  })
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
  ])('of %j, %j gives %j', (granted, requested, scopes) => {
    expect(narrowScopes(granted, requested)).toEqual(scopes)
  })

  it.each([
    [['a'], ['b']],
    [['a'], ['a', 'b']],
    [['a'], ['*']],
    [[], ['a']],
  ])('of %j, %j is refused', (granted, requested) => {
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
  ])('%j holds %s: %s', (scopes, name, held) => {
    expect(holdsScope(scopes, name)).toBe(held)
  })
})

describe('assertScopeDefinitions', () => {
  it('takes names of RFC 6749 with a description', () => {
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
  ])('refuses %j', (scopes) => {
    expect(() => assertScopeDefinitions(scopes)).toThrow(TypeError)
  })
})
