import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientRegistration, mcp } from '../../src/index.ts'
import {
  type Registered,
  registerAndReadError,
  UNLIMITED,
} from '../registration/open-registration.ts'
import { outgoing, postJson, startWebServer, type WebServer } from '../registration/support.ts'
import {
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { KNOWN_HOSTS, type KnownHost } from './known-hosts.ts'

const MCP = 'http://localhost:4999/mcp'
const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
const PKCE = {
  code_challenge: '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y',
  code_challenge_method: 'S256',
}

let web: WebServer
let server: TestServer
beforeAll(async () => {
  web = await startWebServer()
  server = await startServer({
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' },
    features: [mcp({ servers: { [MCP]: { scopes: ['notes:read'] } } })],
    outgoing: outgoing(),
  })
})
afterAll(async () => {
  await server.close()
  await web.close()
})

async function registerHost({ by, metadata, name }: KnownHost): Promise<Partial<Registered>> {
  if (by === 'document') {
    const client_id = web.urlOf(`/${encodeURIComponent(name)}.json`)
    web.answerJson({ ...metadata, client_id })
    return { client_id }
  }
  const reply = await postJson(server, '/oauth/register', metadata)
  expect([reply.status, await reply.clone().text()]).toEqual([201, expect.any(String)])
  return (await reply.json()) as Registered
}

describe('a popular MCP program', () => {
  it.each(KNOWN_HOSTS.map((host) => [host.name, host] as const))(
    'gets a token with the client metadata of %s',
    async (_name, host) => {
      const { client_id = '', client_secret } = await registerHost(host)
      const request = { client_id, redirect_uri: host.redirect, resource: MCP }
      const page = await requestAuthorization(server, 'ada', {
        ...request,
        response_type: 'code',
        scope: 'notes:read',
        ...PKCE,
      })
      expect(page.status).toBe(200)
      const back = await submitApprovalDecision(server, 'ada', page)
      expect(back.href.split('?')[0]).toBe(host.redirect)
      const reply = await server.post('/oauth/token', {
        ...request,
        ...(client_secret ? { client_secret } : {}),
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        code_verifier: VERIFIER,
      })
      expect([reply.status, await reply.json()]).toEqual([
        200,
        expect.objectContaining({ scope: 'notes:read', token_type: 'Bearer' }),
      ])
    },
  )
})

describe('the custom URL scheme of an MCP program (threat A5)', () => {
  const redirect_uris = ['cursor://anysphere.cursor-mcp/oauth/callback']
  const program = { redirect_uris, token_endpoint_auth_method: 'none', client_name: 'A program' }

  it('is refused as a redirect URI for clients with a secret', async () => {
    expect(await registerAndReadError(server, { redirect_uris })).toMatchObject({
      status: 400,
      error: 'invalid_redirect_uri',
    })
  })

  it('can be used as a redirect URI only with PKCE', async () => {
    const { client_id } = (await (
      await postJson(server, '/oauth/register', program)
    ).json()) as Registered
    const request = { client_id, redirect_uri: redirect_uris[0] ?? '', response_type: 'code' }
    const reply = await requestAuthorization(server, 'ada', {
      ...request,
      scope: 'notes:read',
      resource: MCP,
    })
    const { searchParams } = new URL(reply.headers.get('location') ?? 'none:')
    expect(searchParams.get('error')).toBe('invalid_request')
  })

  it.each(['web', undefined] as const)(
    'is refused as a redirect URI if the registration option redirects is %s',
    async (redirects) => {
      const closed = await startServer({
        features: [
          clientRegistration({
            policy: 'open',
            perMinute: UNLIMITED,
            ...(redirects ? { redirects } : {}),
          }),
        ],
      })
      try {
        expect(await registerAndReadError(closed, program)).toMatchObject({
          error: 'invalid_redirect_uri',
        })
      } finally {
        await closed.close()
      }
    },
  )

  it.each(
    'javascript vbscript data file blob about view-source ftp mailto tel sms intent ws wss'.split(
      ' ',
    ),
  )('is refused as a redirect URI if it is %s:', async (scheme) => {
    for (const uri of [`${scheme}:alert`, `${scheme}://host/path`, `${scheme.toUpperCase()}:x`]) {
      expect(
        await registerAndReadError(server, { ...program, redirect_uris: [uri] }),
      ).toMatchObject({
        status: 400,
        error: 'invalid_redirect_uri',
      })
    }
  })

  it('does not allow redirect URIs with plain http on other hosts', async () => {
    const elsewhere = ['http://app.example.com/callback']
    expect(
      await registerAndReadError(server, { ...program, redirect_uris: elsewhere }),
    ).toMatchObject({
      error: 'invalid_redirect_uri',
    })
  })
})
