import { describe, expect, it } from 'vitest'
import { parseForm, requireParam } from './form.ts'

describe('parseForm', () => {
  it.each([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=', {}],
    ['a', {}],
    ['&&a=1&', { a: '1' }],
    ['a=1=2', { a: '1=2' }],
    ['a=b+c%20d', { a: 'b c d' }],
    ['a%20b=1', { 'a b': '1' }],
    ['a=%C3%BC%F0%9F%98%80', { a: 'ü😀' }],
    ['a=ü', { a: 'ü' }],
    ['resource=a&resource=&audience=&resource=b&audience=c', { resource: 'a b', audience: 'c' }],
    ['resource=&resource=a', { resource: 'a' }],
    ['__proto__=1&constructor=2', { ['__proto__']: '1', constructor: '2' }],
  ])('parses the form body %j', (text, form) => {
    expect([...parseForm(text)]).toEqual(Object.entries(form))
  })

  it.each([
    ['a=1&a=2', 'sent twice'],
    ['a=1&a=', 'sent twice'],
    ['a&a=1', 'sent twice'],
    ['a=1&%61=1', 'sent twice'],
    ['a=%', 'invalid percent-encoding'],
    ['a=%zz', 'invalid percent-encoding'],
    ['a=%ff', 'invalid percent-encoding'],
    ['a=%ed%a0%80', 'invalid percent-encoding'],
    ['a=%00', 'not allowed'],
    ['a=\ufffd', 'not allowed'],
    [Array.from({ length: 65 }, (_, index) => `p${index}=1`).join('&'), '64 parameters'],
  ])('rejects the form body %j', (text, why) => {
    expect(() => parseForm(text)).toThrow(why)
  })

  it('accepts 64 parameters', () => {
    const text = Array.from({ length: 64 }, (_, index) => `p${index}=1`).join('&')
    expect(parseForm(text).size).toBe(64)
  })
})

describe('requireParam', () => {
  it("returns the parameter's value, or throws an error that names the missing parameter", () => {
    const form = parseForm('a=1&b=')
    expect(requireParam(form, 'a')).toBe('1')
    expect(() => requireParam(form, 'b')).toThrow("The parameter 'b' is missing")
  })
})
