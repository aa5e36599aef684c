import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestObjects } from '../../src/index.ts'
import { createClient, REDIRECT, type TestServer } from '../support.ts'
import {
  claimsOf,
  createSigner,
  createSigningClient,
  encodeUnsigned,
  requestAndReadError,
  type SigningClient,
  sign,
  signedBy,
  startObjects,
} from './support.ts'

let server: TestServer
let client: SigningClient
beforeAll(async () => {
  server = await startObjects()
  client = await createSigningClient(server, {}, 'RS256')
})
afterAll(() => server.close())

/**
 * Expects an error page: although the URL names a valid redirect URI, the request is unverified.
 */
async function isRefused(request: string, who: { readonly id: string } = client): Promise<void> {
  const query = { client_id: who.id, redirect_uri: REDIRECT, response_type: 'code', request }
  const problem = await requestAndReadError(server, query)
  expect(problem).toMatchObject({ status: 400, error: 'invalid_request_object' })
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

describe('protection against misuse of signed request objects:', () => {
  it('a valid object is accepted, and each refused object in the other tests differs from it in one point', async () => {
    const query = { client_id: client.id, request: await signedBy(server, client) }
    const reply = await server.request(`/oauth/authorize?${new URLSearchParams(query)}`, {
      headers: { cookie: 'session=ada.1', accept: 'application/json' },
    })
    expect(reply.status).toBe(303)
  })

  it("an object whose MAC uses the client's public key as its secret is refused", async () => {
    const { jwk } = client.signer
    const pem = await exportSPKI((await importJWK({ ...jwk }, 'RS256')) as CryptoKey)
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), String(jwk.n)]) {
      const content = `${encode({ alg: 'HS256', kid: 'key' })}.${encode(claimsOf(server, client))}`
      const mac = createHmac('sha256', secret).update(content).digest('base64url')
      await isRefused(`${content}.${mac}`)
    }
  })

  it("a symmetric key in the client's key set is never used", async () => {
    const k = Buffer.from('a secret of more than thirty-two characters').toString('base64url')
    const own = await createClient(server, {
      settings: {
        jwks: { keys: [{ kty: 'oct', k, kid: 'key' }] },
        request_object_signing_alg: 'HS256',
      },
    })
    const content = `${encode({ alg: 'HS256', kid: 'key' })}.${encode(claimsOf(server, own))}`
    const mac = createHmac('sha256', Buffer.from(k, 'base64url')).update(content)
    await isRefused(`${content}.${mac.digest('base64url')}`, own)
  })

  it.each(['none', 'None', 'NONE', '', undefined])(
    'an object with the alg %s is refused as unsigned',
    async (alg) => {
      await isRefused(encodeUnsigned(claimsOf(server, client), { alg }))
      const [, , signature] = (await signedBy(server, client)).split('.')
      await isRefused(`${encodeUnsigned(claimsOf(server, client), { alg })}${signature}`)
    },
  )

  it('an altered object is refused, whichever part is altered', async () => {
    const [header, , signature] = (await signedBy(server, client)).split('.')
    const claims = { ...claimsOf(server, client), scope: 'check-status' }
    await isRefused(`${header}.${encode(claims)}.${signature}`)
    const genuine = await signedBy(server, client)
    await isRefused(genuine.slice(0, -8))
    await isRefused(genuine.replace(/^[^.]+/, encode({ alg: 'PS256', kid: 'key' })))
    await isRefused(`${genuine}.x`)
    await isRefused('x')
    await isRefused('..')
  })

  it("neither a key inside the object nor another client's key is trusted", async () => {
    const stranger = await createSigner('RS256')
    const claims = claimsOf(server, client)
    await isRefused(await sign(stranger, claims))
    await isRefused(await sign(stranger, claims, { jwk: { ...stranger.jwk } }))
    await isRefused(await sign(stranger, claims, { jku: 'https://evil.example/jwks.json' }))
    const other = await createSigningClient(server, {}, 'RS256')
    await isRefused(await sign(other.signer, claims))
    await isRefused(await signedBy(server, other), client)
  })

  it('an object with an algorithm other than the registered one is refused', async () => {
    const own = await createSigningClient(server, { request_object_signing_alg: 'PS256' }, 'RS256')
    await isRefused(await signedBy(server, own), own)
    const none = await createSigningClient(server, { request_object_signing_alg: 'none' }, 'RS256')
    await isRefused(await signedBy(server, none), none)
  })

  it('an object with an algorithm that the server option does not list is refused', async () => {
    const narrow = await startObjects({ features: [requestObjects({ algorithms: ['ES256'] })] })
    try {
      const own = await createSigningClient(narrow, {}, 'RS256')
      const query = { client_id: own.id, request: await signedBy(narrow, own) }
      expect(await requestAndReadError(narrow, query)).toMatchObject({
        error: 'invalid_request_object',
      })
    } finally {
      await narrow.close()
    }
  })

  it.each([
    ['for another server', { aud: 'https://other.example' }],
    ['without aud', { aud: undefined }],
    ['with another client as iss', { iss: 'other' }],
    ['without iss', { iss: undefined }],
    ['with the client_id of another client', { client_id: 'other' }],
    ['without client_id', { client_id: undefined }],
    ['that could also be used as a client assertion', { sub: 'own' }],
    ['with a request inside', { request: 'a.b.c' }],
    ['with a request_uri inside', { request_uri: 'https://app.example/object' }],
    ['that has expired', { exp: 1_700_000_000 }],
    ['that is not valid yet', { nbf: 2_000_000_000, exp: 2_000_000_060 }],
    ['with an exp that is no number', { exp: 'never' }],
    ['with a lone surrogate', { state: '\ud800' }],
    ['with a NUL', { state: 'a\0b' }],
    [
      'with a thousand parameters',
      Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`p${i}`, 'x'])),
    ],
  ])('an object %s is refused', async (_what, changes) => {
    const own = 'sub' in changes ? { sub: client.id } : changes
    await isRefused(await signedBy(server, client, own))
  })

  it('a valid object is refused if it is sent again after it expired', async () => {
    const request = await signedBy(server, client)
    server.clock.advance({ minutes: 3 })
    await isRefused(request)
  })

  it('the `request_seen` parameter, which keeps an object valid while the person signs in, can neither be forged nor used for another object', async () => {
    const query = async (request: string, seen: string) =>
      requestAndReadError(server, { client_id: client.id, request, request_seen: seen })
    const request = await signedBy(server, client)
    const asked = new URLSearchParams({ client_id: client.id, request })
    const away = await server.request(`/oauth/authorize?${asked}`, {
      headers: { accept: 'text/html' },
    })
    const returnTo = new URL(away.headers.get('location') ?? '', server.url).searchParams.get(
      'return_to',
    )
    const seen = new URL(returnTo ?? '', server.url).searchParams.get('request_seen') ?? ''
    expect(seen).toMatch(/^\d+\./)
    const other = await signedBy(server, client, { state: 'other' })
    const later = String(server.clock.now().getTime())
    server.clock.advance({ minutes: 5 })
    const error = 'invalid_request_object'
    expect(await query(other, seen)).toMatchObject({ error })
    expect(await query(request, `${later}.${'A'.repeat(43)}`)).toMatchObject({ error })
    const moved = seen.replace(/^\d+/, String(Number(seen.split('.')[0]) + 1))
    expect(await query(request, moved)).toMatchObject({ error })
  })

  it.each(['at+jwt', 'dpop+jwt', 'client-authentication+jwt', 'logout+jwt', 'secevent+jwt'])(
    'a JWT with the typ %s is refused',
    async (typ) => isRefused(await signedBy(server, client, {}, { typ })),
  )

  it('an object with an unknown critical header parameter is refused', async () => {
    const object = await new SignJWT(claimsOf(server, client))
      .setProtectedHeader({ alg: 'RS256', kid: 'key', crit: ['exp2'], exp2: 1 })
      .sign(client.signer.privateKey, { crit: { exp2: true } })
    await isRefused(object)
  })

  it('a client without usable keys gets an error, and causes no internal failure', async () => {
    for (const settings of [
      {},
      { jwks: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'key' }] } },
    ]) {
      const own = await createClient(server, { settings })
      await isRefused(await sign(client.signer, claimsOf(server, own)), own)
    }
    expect(server.logged).toEqual([])
  })

  it('an encrypted object is refused', async () => {
    await isRefused(`${encode({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`)
  })

  it('a request from an unknown client is refused before its object is verified', async () => {
    const query = { client_id: 'nobody', request: await signedBy(server, client) }
    expect(await requestAndReadError(server, query)).toMatchObject({
      status: 400,
      error: 'invalid_request',
    })
  })
})
