import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientRegistration,
  deviceCode,
  openid,
  refreshToken,
} from '../../src/index.ts'
import {
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { type Registered, UNLIMITED } from './open-registration.ts'
import { postJson } from './support.ts'

const TOKEN = 'an-initial-access-token-of-many-characters'
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

let provider: TestServer
beforeAll(async () => {
  provider = await startServer({
    features: [
      openid({ pairwiseSalt: 'a salt of more than thirty-two characters' }),
      clientRegistration({
        policy: 'initial-access-token',
        initialAccessTokens: [TOKEN],
        perMinute: UNLIMITED,
      }),
    ],
    grants: [authorizationCode(), refreshToken(), deviceCode()],
    selfRegistered: { scopes: ['openid'] },
  })
})
afterAll(() => provider.close())

/** Returns Ada's subject for a client that registers with this sector and metadata. */
async function subjectOfAda(uri: string, metadata: object = {}): Promise<string> {
  const body = { redirect_uris: [uri], subject_type: 'pairwise', ...metadata }
  const headers = { authorization: `Bearer ${TOKEN}` }
  const reply = await postJson(provider, '/oauth/register', body, headers)
  const { client_id, client_secret = '' } = (await reply.json()) as Registered
  const asked = { client_id, redirect_uri: uri, response_type: 'code', scope: 'openid' }
  const back = await submitApprovalDecision(
    provider,
    'ada',
    await requestAuthorization(provider, 'ada', asked),
  )
  const tokens = await provider.post('/oauth/token', {
    grant_type: 'authorization_code',
    client_id,
    client_secret,
    redirect_uri: uri,
    code: back.searchParams.get('code') ?? '',
  })
  const { id_token } = (await tokens.json()) as { id_token: string }
  return decodeJwt(id_token).sub ?? ''
}

describe('a pairwise subject', () => {
  it('is equal for clients with the same redirect host', async () => {
    expect(await subjectOfAda(REDIRECT)).toBe(await subjectOfAda('https://app.example/elsewhere'))
  })

  it.each([
    ['apps with custom URL schemes', 'com.one:/cb', 'com.other:/cb'],
    ['programs with a loopback address', 'http://127.0.0.1/cb', 'http://127.0.0.1/cb'],
    ['programs on localhost', 'http://localhost:3000/cb', 'http://localhost:3000/cb'],
  ])('differs between two %s', async (_what, one, other) => {
    expect(await subjectOfAda(one)).not.toBe(await subjectOfAda(other))
  })

  it('is not shared with a client that has the same redirect host but can also get tokens without a redirect', async () => {
    const stranger = await subjectOfAda(REDIRECT, { grant_types: ['authorization_code', DEVICE] })
    expect(stranger).not.toBe(await subjectOfAda(REDIRECT))
  })
})
