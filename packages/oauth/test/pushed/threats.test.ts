import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pushedRequests } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import {
  exchange,
  type FlowClient,
  locationOf,
  push,
  pushAndBuildParams,
  startPushed,
} from './support.ts'

let server: TestServer
let client: FlowClient
beforeAll(async () => {
  server = await startPushed()
  client = await createClient(server, { firstParty: true })
})
afterAll(() => server.close())

async function isOurPage(reply: Response): Promise<void> {
  expect(reply.status).toBe(400)
  expect(reply.headers.get('location')).toBeNull()
  expect(reply.headers.get('content-type')).toContain('text/html')
}

describe('protection against misuse of a pushed request:', () => {
  it('a request that was approved or denied cannot be used again, and a code issued for it stays valid', async () => {
    const request = await pushAndBuildParams(server, client)
    const back = locationOf(await requestAuthorization(server, 'ada', request))
    await isOurPage(await requestAuthorization(server, 'ada', request))
    expect((await exchange(server, client, back)).status).toBe(200)
  })

  it('a request pushed by another client is refused, and that client can still use it', async () => {
    const request = await pushAndBuildParams(server, client)
    const other = await createClient(server, { firstParty: true })
    await isOurPage(await requestAuthorization(server, 'ada', { ...request, client_id: other.id }))
    expect(locationOf(await requestAuthorization(server, 'ada', request)).href).toContain(
      `${REDIRECT}?code=`,
    )
  })

  it.each([
    ['unknown', 'urn:ietf:params:oauth:request_uri:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['without a name', 'urn:ietf:params:oauth:request_uri:'],
    ['thousands of characters long', `urn:ietf:params:oauth:request_uri:${'x'.repeat(7000)}`],
  ])(
    'a request_uri that is %s leads to an error page, even if the URL contains a redirect URI',
    async (_what, uri) => {
      const request = { client_id: client.id, request_uri: uri, redirect_uri: REDIRECT }
      await isOurPage(
        await requestAuthorization(server, 'ada', { ...request, response_type: 'code' }),
      )
    },
  )

  it('a request_uri without a client_id is refused', async () => {
    const { request_uri } = await pushAndBuildParams(server, client)
    await isOurPage(await requestAuthorization(server, 'ada', { request_uri }))
  })

  it('an unknown request_uri together with a request object is refused, without an unhandled rejection', async () => {
    const request_uri = 'urn:ietf:params:oauth:request_uri:x'
    await isOurPage(
      await requestAuthorization(server, 'ada', {
        client_id: client.id,
        request: 'x',
        request_uri,
      }),
    )
    // The runner fails on unhandled rejections, which would crash a process.
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('a request_uri on another server is refused without being fetched', async () => {
    const request = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
    const uri = 'https://app.example/request.jwt'
    const back = locationOf(
      await requestAuthorization(server, 'ada', { ...request, request_uri: uri }),
    )
    expect(back.searchParams.get('error')).toBe('request_uri_not_supported')
  })

  it('concurrent requests of many tabs get a single code, even from two processes', async () => {
    const second = server.another()
    await second.ready()
    const request = await pushAndBuildParams(server, client)
    const url = `${server.url}/oauth/authorize?${new URLSearchParams(request)}`
    const headers = { cookie: buildSessionCookie('ada'), accept: 'text/html' }
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? server.oauth : second).fetch(new Request(url, { headers })),
      ),
    )
    const codes = replies.map((reply) => locationOf(reply).searchParams.get('code'))
    expect(codes.filter((code) => code !== null)).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status !== 303)) await isOurPage(reply)
  })

  it('concurrent approvals get a single code', async () => {
    const careful = await createClient(server)
    const request = await pushAndBuildParams(server, careful)
    const pages = await Promise.all(
      Array.from({ length: 6 }, () => requestAuthorization(server, 'bob', request)),
    )
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200))
    const backs = await Promise.all(
      pages.map((page) => submitApprovalDecision(server, 'bob', page)),
    )
    const codes = backs.map((back) => back.searchParams.get('code')).filter(Boolean)
    expect(codes).toHaveLength(1)
  })

  it('concurrent requests of many tabs with response_type=token get one valid token', async () => {
    const old = await createClient(server, { firstParty: true, grants: ['implicit'] })
    const request = await pushAndBuildParams(server, old, { response_type: 'token' })
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => requestAuthorization(server, 'ada', request)),
    )
    const told = replies.filter((reply) => reply.headers.get('location')?.includes('access_token'))
    expect(told).toHaveLength(1)
    const living = await server.oauth.tokens.listByUser('ada')
    expect(living.filter((token) => token.clientId === old.id)).toHaveLength(1)
  })

  it('the parameters are checked again when the person opens the request', async () => {
    const own = await createClient(server, { firstParty: true })
    const request = await pushAndBuildParams(server, own)
    await server.oauth.clients.update(own.id, { name: 'Moved', redirect: 'https://new.example/' })
    await isOurPage(await requestAuthorization(server, 'ada', request))
  })

  it('neither the request_uri nor the client secret is stored in plain text', async () => {
    const own = await createClient(server)
    const { request_uri } = await pushAndBuildParams(server, own)
    const rows = await server.database.kysely
      .withTables<{ oauth_tickets: { hash: string; content: string } }>()
      .selectFrom('oauth_tickets')
      .selectAll()
      .execute()
    const text = JSON.stringify(rows)
    expect(text).toContain(own.id)
    expect(text).not.toContain(own.secret)
    expect(text).not.toContain(request_uri.split(':').at(-1))
  })

  it('endEverything() makes the request invalid', async () => {
    const ending = await startPushed({}, pushedRequests())
    try {
      const own = await createClient(ending, { firstParty: true })
      const request = await pushAndBuildParams(ending, own)
      await ending.oauth.endEverything()
      await isOurPage(await requestAuthorization(ending, 'ada', request))
    } finally {
      await ending.close()
    }
  })

  it('a client cannot push a request for another client', async () => {
    const other = await createClient(server)
    const reply = await server.post(
      '/oauth/par',
      { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' },
      { authorization: `Basic ${btoa(`${other.id}:${other.secret}`)}` },
    )
    expect(reply.status).toBe(401)
    expect((await push(server, { id: client.id, secret: '' })).status).toBe(401)
  })
})
