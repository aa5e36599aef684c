import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientRegistration,
  deviceCode,
  openid,
  refreshToken,
} from '../../src/index.ts'
import { askFor, decideOn, REDIRECT, startServer, type TestServer } from '../support.ts'
import { PLENTY, type Registered } from './registering.ts'
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
        perMinute: PLENTY,
      }),
    ],
    grants: [authorizationCode(), refreshToken(), deviceCode()],
    selfRegistered: { scopes: ['openid'] },
  })
})
afterAll(() => provider.close())

/** Whom a client that registers so takes ada for. */
async function adaFor(uri: string, metadata: object = {}): Promise<string> {
  const body = { redirect_uris: [uri], subject_type: 'pairwise', ...metadata }
  const headers = { authorization: `Bearer ${TOKEN}` }
  const reply = await postJson(provider, '/oauth/register', body, headers)
  const { client_id, client_secret = '' } = (await reply.json()) as Registered
  const asked = { client_id, redirect_uri: uri, response_type: 'code', scope: 'openid' }
  const back = await decideOn(provider, 'ada', await askFor(provider, 'ada', asked))
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

describe('the name of a person that no other client knows', () => {
  it('is the same for clients of one host', async () => {
    expect(await adaFor(REDIRECT)).toBe(await adaFor('https://app.example/elsewhere'))
  })

  it.each([
    ['apps with schemes of their own', 'com.one:/cb', 'com.other:/cb'],
    ['programs on the machine of a person', 'http://127.0.0.1/cb', 'http://127.0.0.1/cb'],
    ['programs at localhost', 'http://localhost:3000/cb', 'http://localhost:3000/cb'],
  ])('is another for each of two %s', async (_what, one, other) => {
    expect(await adaFor(one)).not.toBe(await adaFor(other))
  })

  it('is not to be had by naming the host of another, where tokens need no redirect', async () => {
    const stranger = await adaFor(REDIRECT, { grant_types: ['authorization_code', DEVICE] })
    expect(stranger).not.toBe(await adaFor(REDIRECT))
  })
})
