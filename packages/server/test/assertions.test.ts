import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enabledGrants } from '../src/features.ts'
import { parseSettings, type SettingsInput } from '../src/index.ts'
import { startTestService, type TestService } from './support.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ACME = 'https://idp.acme.example'
const CI = 'https://token.ci.example'
const JOB = 'repo:acme/site:environment:production'
const EMAIL = 'grace@acme.example'

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key' }] }
const scopes = ['check-status']

/** Clients by the subject of their workload. Filled when the client is created. */
const clientOf: Record<string, string> = {}
const settings: SettingsInput = {
  registration: false,
  trustedIssuers: [
    { issuer: ACME, jwks, scopes, emailDomains: ['acme.example'] },
    { issuer: CI, jwks, scopes, clientOf },
  ],
  identityAssertions: {
    'https://auth.chat.example': { clients: {}, scopes: [], resources: [] },
  },
}

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings })
})
afterAll(() => service.stop())

let count = 0

async function ask(claims: Record<string, unknown>, form: Record<string, string>) {
  count += 1
  const assertion = await new SignJWT({ jti: `${count}`, aud: service.url, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'key' })
    .setIssuedAt(service.clock.now())
    .setExpirationTime(new Date(service.clock.now().getTime() + 60_000))
    .sign(privateKey)
  const reply = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: JWT_BEARER, assertion, ...form }),
  })
  return (await reply.json()) as { access_token: string; error?: string }
}

describe('the `trustedIssuers` setting', () => {
  it('lets a workload, such as a CI job, get a token for its client without a secret', async () => {
    const grants = [JWT_BEARER]
    const { client } = await service.oauth.clients.create({
      ...{ name: 'Deployment', confidential: false, grants },
    })
    clientOf[JOB] = client.id
    const { access_token } = await ask({ iss: CI, sub: JOB }, { client_id: client.id })
    expect(decodeJwt(access_token)).toMatchObject({ sub: `client:${client.id}` })
    expect(await ask({ iss: CI, sub: 'repo:evil' }, { client_id: client.id })).toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('finds the account by a verified e-mail address in a domain of the issuer, unless the account is disabled', async () => {
    const account = await service.users.create({ email: EMAIL, password: 'a long password' })
    const { client, secret } = await service.oauth.clients.create({
      ...{ name: 'Intranet', grants: [JWT_BEARER] },
    })
    const credentials = { client_id: client.id, client_secret: secret ?? '' }
    const claims = { iss: ACME, sub: '17', email: EMAIL, email_verified: true }
    const { access_token } = await ask(claims, credentials)
    expect(decodeJwt(access_token).sub).toBe(`user:${account.id}`)
    const unverified = { ...claims, email_verified: false }
    expect(await ask(unverified, credentials)).toMatchObject({ error: 'invalid_grant' })
    await service.users.setDisabled(account.id, true)
    expect(await ask(claims, credentials)).toMatchObject({ error: 'invalid_grant' })
  })

  it('adds its grant, and the token type of identity assertions, to the server metadata', async () => {
    const reply = await fetch(`${service.url}/.well-known/openid-configuration`)
    expect(await reply.json()).toMatchObject({
      grant_types_supported: expect.arrayContaining([JWT_BEARER]),
      identity_chaining_requested_token_types_supported: [
        'urn:ietf:params:oauth:token-type:id-jag',
      ],
    })
  })

  it.each([
    ['no keys', { issuer: CI, scopes, clientOf: {} }, /trustedIssuers.0: .*jwksUri or jwks/],
    ['a text', CI, /trustedIssuers.0/],
    ['no ceiling', { issuer: CI, jwks, clientOf: {} }, /trustedIssuers.0: .*scopes/],
  ])('rejects an issuer with %s, and names the setting', (_name, issuer, message) => {
    expect(() => parseSettings({ trustedIssuers: [issuer] })).toThrow(message)
  })
})

it('the service offers no jwt-bearer grant unless an issuer is configured', () => {
  const types = enabledGrants(parseSettings({}), service.users).map(({ type }) => type)
  expect(types).not.toContain(JWT_BEARER)
})
