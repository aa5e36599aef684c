import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import {
  InsufficientScope,
  InvalidRequest,
  isOAuthError,
  OAuthError,
  type OAuthErrorOf,
  toPrintable,
  ValidationFailed,
} from './errors.ts'

describe('toPrintable(), which makes a text safe for error_description,', () => {
  it.each([
    ['plain text', 'plain text'],
    ['say "hi"', "say 'hi'"],
    ['back\\slash', 'back?slash'],
    ['tab\tline\r\n', 'tab?line??'],
    ['ü', '?'],
    ['x'.repeat(400), 'x'.repeat(300)],
  ])('turns %j into %j', (text, shown) => {
    expect(toPrintable(text)).toBe(shown)
  })
})

describe('the response body of an error', () => {
  it('never contains the cause of the error', () => {
    const error = new InvalidRequest('Bad', { cause: new Error('secret'), hint: 'Better' })
    expect(error.body()).toEqual({
      error: 'invalid_request',
      error_description: 'Bad',
      hint: 'Better',
    })
  })

  it('lists every scope that the route needs in the WWW-Authenticate challenge', () => {
    const { 'www-authenticate': challenge } = new InsufficientScope('No', ['a', 'b']).headers()
    expect(challenge).toContain('scope="a b"')
  })

  it.each([
    [{ name: ['One.'] }, 'One.'],
    [{ name: ['One.', 'Two.'] }, 'One. (and 1 more error)'],
    [{ name: ['One.'], redirect: ['Two.', 'Three.'] }, 'One. (and 2 more errors)'],
    [{}, 'The request is invalid.'],
  ])('combines the validation errors %j into one message', (errors, message) => {
    expect(new ValidationFailed(errors).body()).toEqual({ message, errors })
  })
})

describe('OAuthError', () => {
  it('is recognized by instanceof even if a second copy of the package created the error, and other objects are not', async () => {
    vi.resetModules()
    const copy = await import('./errors.ts')
    const error = new copy.InvalidRequest('Bad')
    expect(copy.InvalidRequest).not.toBe(InvalidRequest)
    expect(error instanceof OAuthError).toBe(true)
    expect(error instanceof InvalidRequest).toBe(false)
    for (const other of [
      new Error('Bad'),
      { code: 'invalid_request' },
      null,
      'Bad',
      OAuthError.prototype,
    ]) {
      expect(other instanceof OAuthError).toBe(false)
    }
  })
})

describe('isOAuthError', () => {
  it('narrows the TypeScript type of the error to the class of the given code', () => {
    const error: unknown = new ValidationFailed({ name: ['Required.'] })
    if (!isOAuthError(error, 'validation_failed')) throw error
    expect(error.errors).toEqual({ name: ['Required.'] })
    expectTypeOf<OAuthErrorOf<'insufficient_scope'>>().toEqualTypeOf<InsufficientScope>()
    expectTypeOf<OAuthErrorOf<'invalid_grant'>['code']>().toEqualTypeOf<'invalid_grant'>()
  })

  it('returns false for an error with another code', () => {
    const error: unknown = new InvalidRequest('Bad')
    expect([isOAuthError(error), isOAuthError(error, 'invalid_request')]).toEqual([true, true])
    expect(isOAuthError(error, 'invalid_grant')).toBe(false)
    expect(isOAuthError(Object.assign(new Error('x'), { code: 'invalid_request' }))).toBe(false)
  })
})
