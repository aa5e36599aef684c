import { describe, expect, it } from 'vitest'
import { authorizationCode } from './grants/authorization-code.ts'
import { type AuthorizationServerOptions, resolveOptions } from './options.ts'
import { memoryStorage } from './storage/memory.ts'

const good: AuthorizationServerOptions = {
  issuer: 'https://api.example.com',
  secret: 's'.repeat(32),
  storage: memoryStorage(),
  users: { findById: async () => null, fromRequest: async () => null },
  grants: [authorizationCode()],
}

/** Any value, as an untyped JavaScript caller may pass it. */
const resolve = (change: Record<string, unknown>) =>
  resolveOptions({ ...good, ...change } as AuthorizationServerOptions)

describe('resolveOptions', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com:8443',
    'https://api.example.com/base',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
  ])('accepts the issuer %s', (issuer) => {
    expect(resolve({ issuer }).issuer).toBe(issuer)
  })

  it.each([
    ['issuer', undefined],
    ['issuer', ''],
    ['issuer', 'api.example.com'],
    ['issuer', 'https://api.example.com/'],
    ['issuer', 'https://API.example.com'],
    ['issuer', 'https://api.example.com:443'],
    ['issuer', 'https://api.example.com?x=1'],
    ['issuer', 'https://api.example.com#x'],
    ['issuer', 'http://api.example.com'],
    ['issuer', 'ftp://localhost'],
    ['secret', undefined],
    ['secret', ''],
    ['secret', 's'.repeat(31)],
    ['secret', ' '.repeat(40)],
    ['secret', []],
    ['secret', ['s'.repeat(32), 'short']],
    ['storage', undefined],
    ['grants', undefined],
    ['grants', []],
    ['grants', [authorizationCode(), authorizationCode()]],
    ['scopes', { '*': 'All' }],
    ['scopes', { a: '' }],
    ['path', 'oauth'],
    ['path', '/oauth/'],
    ['path', '/o{id}'],
    ['accessTokensExpireIn', '15 days'],
    ['refreshTokensExpireIn', 0],
    ['personalAccessTokensExpireIn', -1],
    ['accessTokenFormat', 'saml'],
    ['signingAlgorithm', 'none'],
    ['keyPublishedAhead', 'soon'],
    ['cookieLifetime', '0h'],
    ['purgeEvery', 'never'],
  ])('rejects the option %s with the value %j by a TypeError at start-up', (name, value) => {
    expect(() => resolve({ [name]: value })).toThrow(TypeError)
  })

  it('never includes a secret in an error message', () => {
    for (const name of ['secret', 'issuer']) {
      expect(() => resolve({ [name]: 'hunter2 hunter2' })).toThrow(/^(?!.*hunter2)/)
    }
  })

  it('does not modify the options object of the caller', () => {
    const options = Object.freeze({ ...good, grants: Object.freeze([...good.grants]) })
    expect(() => resolveOptions(options)).not.toThrow()
  })
})
