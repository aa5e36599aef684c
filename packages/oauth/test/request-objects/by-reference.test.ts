import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openid, pushedRequests, requestObjects } from '../../src/index.ts'
import { UsersWithClaims } from '../openid/support.ts'
import { locationOf } from '../pushed/support.ts'
import { outgoing, startWebServer, type WebServer } from '../registration/support.ts'
import { REDIRECT, requestAuthorization, type TestServer } from '../support.ts'
import {
  claimsOf,
  createSigningClient,
  encodeUnsigned,
  requestAndReadError,
  type SigningClient,
  signedBy,
  startObjects,
} from './support.ts'

let web: WebServer
let server: TestServer
let client: SigningClient
let request_uri: string
beforeAll(async () => {
  web = await startWebServer()
  request_uri = web.urlOf('/request.jwt')
  server = await startObjects({
    users: new UsersWithClaims(),
    features: [openid(), requestObjects({ byReference: true, unsigned: true }), pushedRequests()],
    outgoing: outgoing(),
  })
  client = await createSigningClient(server, { request_uris: [request_uri] })
})
afterAll(async () => {
  await server.close()
  await web.close()
})

const METADATA = '/.well-known/openid-configuration'

function serve(text: string, type = 'application/oauth-authz-req+jwt', status = 200): void {
  web.answer((_request, response) => response.writeHead(status, { 'content-type': type }).end(text))
}

const askAt = (uri: string, id = client.id) =>
  requestAuthorization(server, 'ada', {
    client_id: id,
    request_uri: uri,
    redirect_uri: 'https://evil.example/',
  })

const isRefused = async (uri: string, error = 'invalid_request_uri') =>
  expect(
    await requestAndReadError(server, { client_id: client.id, request_uri: uri }),
  ).toMatchObject({
    status: 400,
    error,
  })

describe('a request object by reference (request_uri, OpenID Connect Core §6.2)', () => {
  it.each(['application/oauth-authz-req+jwt', 'application/jwt;charset=UTF-8'])(
    'is fetched if its content type is %s',
    async (type) => {
      serve(await signedBy(server, client), type)
      const back = locationOf(await askAt(request_uri))
      expect(`${back.origin}${back.pathname}`).toBe(REDIRECT)
      expect(back.searchParams.get('state')).toBe('signed')
      expect(back.searchParams.get('code')).toMatch(/^tgc_/)
    },
  )

  it('is fetched again for every request', async () => {
    for (const state of ['first', 'second']) {
      serve(await signedBy(server, client, { state }))
      expect(locationOf(await askAt(request_uri)).searchParams.get('state')).toBe(state)
    }
  })

  it('may have the hash of its content in the fragment of its URL', async () => {
    const hashed = `${web.urlOf('/hashed.jwt')}#47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU`
    const own = await createSigningClient(server, { request_uris: [hashed] })
    serve(await signedBy(server, own))
    expect((await askAt(hashed, own.id)).status).toBe(303)
    expect((await askAt(web.urlOf('/hashed.jwt'), own.id)).status).toBe(400)
    serve(await signedBy(server, client))
    expect((await askAt(`${request_uri}#new`)).status).toBe(303)
  })

  it('stays valid while the person signs in, like a request object passed by value', async () => {
    serve(await signedBy(server, client))
    const query = new URLSearchParams({ client_id: client.id, request_uri })
    const reply = await server.request(`/oauth/authorize?${query}`, {
      headers: { accept: 'text/html' },
    })
    const returnTo = locationOf(reply).searchParams.get('return_to') ?? ''
    const params = Object.fromEntries(new URL(returnTo, server.url).searchParams)
    server.clock.advance({ minutes: 20 })
    expect(
      locationOf(await requestAuthorization(server, 'ada', params)).searchParams.has('code'),
    ).toBe(true)
  })

  it('is announced in the metadata, as is require_request_uri_registration', async () => {
    expect(await (await server.request(METADATA)).json()).toMatchObject({
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      request_object_signing_alg_values_supported: expect.arrayContaining(['RS256', 'none']),
    })
  })

  it('does not affect pushed requests', async () => {
    const pushed = await server.post('/oauth/par', {
      client_id: client.id,
      client_secret: client.secret,
      request: await signedBy(server, client),
    })
    const { request_uri: name } = await pushed.json()
    expect((await askAt(name)).status).toBe(303)
  })
})

describe('a refused request object by reference:', () => {
  it('an object at an unregistered URL is refused and never fetched', async () => {
    serve(await signedBy(server, client))
    const before = web.asked.length
    await isRefused(web.urlOf('/other.jwt'))
    await isRefused(`${request_uri}?x`)
    await isRefused(web.urlOf('/request.jwt', 'other.example'))
    expect(web.asked.length).toBe(before)
  })

  it('an object at a private address is refused, whether or not the URL is registered', async () => {
    const own = await createSigningClient(server, { request_uris: ['https://10.0.0.7/object'] })
    expect((await askAt('https://10.0.0.7/object', own.id)).status).toBe(400)
  })

  it('a missing object, an object that is too long, and an object behind a redirect are refused', async () => {
    serve('nothing', 'text/plain', 404)
    await isRefused(request_uri)
    serve(await signedBy(server, client), 'text/html')
    await isRefused(request_uri)
    serve('x'.repeat(70_000))
    await isRefused(request_uri)
    web.answer((_request, response) =>
      response.writeHead(302, { location: web.urlOf('/elsewhere') }).end(),
    )
    await isRefused(request_uri)
    serve('x')
    await isRefused(request_uri, 'invalid_request_object')
  })

  it('an object of another client is refused', async () => {
    const other = await createSigningClient(server)
    serve(await signedBy(server, other))
    await isRefused(request_uri, 'invalid_request_object')
  })
})

describe('unsigned request objects, with the option unsigned: true,', () => {
  it('are accepted from clients that have registered no algorithm', async () => {
    serve(encodeUnsigned(claimsOf(server, client)))
    expect(locationOf(await askAt(request_uri)).searchParams.get('state')).toBe('signed')
    const request = encodeUnsigned(claimsOf(server, client))
    expect(
      (await requestAuthorization(server, 'ada', { client_id: client.id, request })).status,
    ).toBe(303)
  })

  it.each([{ request_object_signing_alg: 'ES256' }, { require_signed_request_object: true }])(
    'are refused for a client with the settings %j',
    async (settings) => {
      const own = await createSigningClient(server, settings)
      const request = encodeUnsigned(claimsOf(server, own))
      expect(
        (await requestAuthorization(server, 'ada', { client_id: own.id, request })).status,
      ).toBe(400)
    },
  )

  it('cannot be combined with the option required: true', () => {
    expect(() => requestObjects({ required: true, unsigned: true })).toThrow(TypeError)
  })
})
