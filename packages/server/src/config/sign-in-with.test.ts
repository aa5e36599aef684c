import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { redactSecretValues } from './in-force.ts'
import { readSettings } from './settings.ts'
import { resolveSignInWith, type SignInWithSettings, signInWithShape } from './sign-in-with.ts'

const client = { clientId: 'id', clientSecret: 'a-secret-value' }
const apple = { clientId: 'com.example', teamId: 'TEAM123456', keyId: 'KEY1234567' }
const acme = { ...client, name: 'Acme', issuer: 'https://id.example.com' }

const parse = (value: object) => signInWithShape.parse(value) as SignInWithSettings

describe('the setting signInWith', () => {
  it('takes each secret from the file, or from a variable that overrides it', () => {
    const settings = parse({ google: client, github: { clientId: 'x' }, custom: { acme } })
    const environment = {
      TOLLGATE_SIGN_IN_GITHUB_SECRET: 'from-environment',
      TOLLGATE_SIGN_IN_ACME_SECRET: 'overriding',
    }
    const { providers, problems, warnings } = resolveSignInWith(settings, environment)
    expect(providers.map(({ id, secret }) => [id, secret])).toEqual([
      ['google', 'a-secret-value'],
      ['github', 'from-environment'],
      ['acme', 'overriding'],
    ])
    expect([problems, warnings]).toEqual([[], []])
  })

  it('names a missing or invalid secret with the variable that sets it, but not its value', () => {
    const rsa = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey
    const { clientSecret: _, ...withoutSecret } = acme
    const settings = parse({
      google: { clientId: 'x' },
      apple: { ...apple, privateKey: rsa },
      custom: { 'my-idp': withoutSecret },
    })
    const { problems } = resolveSignInWith(settings, {})
    expect(problems).toEqual([
      'signInWith.google.clientSecret is missing: set TOLLGATE_SIGN_IN_GOOGLE_SECRET.',
      'signInWith.apple.privateKey is invalid (expected the contents of the .p8 file from Apple, an EC key (P-256)): set TOLLGATE_SIGN_IN_APPLE_SECRET.',
      'signInWith.custom.my-idp.clientSecret is missing: set TOLLGATE_SIGN_IN_MY_IDP_SECRET.',
    ])
  })

  it('warns about a secret of a provider that is not configured', () => {
    const { warnings } = resolveSignInWith(parse({}), { TOLLGATE_SIGN_IN_GOGLE_SECRET: 'x' })
    expect(warnings).toEqual([
      'TOLLGATE_SIGN_IN_GOGLE_SECRET is not used, because signInWith has no such provider.',
    ])
  })

  it.each([
    ['an unknown preset', { gogle: client }, /signInWith\.gogle: there is no such setting.*google/],
    ['an unknown member', { google: { ...client, tenant: 'x' } }, /signInWith\.google\.tenant/],
    ['a preset without its id', { google: {} }, /signInWith\.google\.clientId/],
    [
      'a tenant that is a name',
      { microsoft: { ...client, tenant: 'contoso' } },
      /id of your tenant/,
    ],
    [
      'trust in the addresses of every tenant',
      { microsoft: { ...client, tenant: 'common', emailsAreVerified: true } },
      /administrators of other tenants/,
    ],
    ['a short team id', { apple: { ...apple, teamId: 'x' } }, /signInWith\.apple\.teamId: .*ten/],
    ['an issuer that is no URL', { custom: { acme: { ...acme, issuer: 'acme' } } }, /the issuer/],
    ['scopes without openid', { custom: { acme: { ...acme, scopes: ['email'] } } }, /'openid'/],
    ['an id with a slash', { custom: { 'a/b': acme } }, /cannot be the id of a provider/],
    ['the id of a preset', { custom: { google: acme } }, /cannot be the id of a provider/],
  ])('rejects %s, and says what is expected', (_, value, message) => {
    const { problems } = readSettings({ signInWith: value })
    expect(problems.join('\n')).toMatch(message)
  })

  it('is shown to operators without secrets', () => {
    const shown = JSON.stringify(redactSecretValues(parse({ google: client, custom: { acme } })))
    expect(shown).toContain('https://id.example.com')
    expect(shown).not.toContain('a-secret-value')
  })
})
