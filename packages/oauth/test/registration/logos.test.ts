import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientLogos, clientRegistration } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'
import { outgoing, postJson, startWebServer, type WebServer } from './support.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

let web: WebServer
let server: TestServer
beforeEach(async () => {
  web = await startWebServer()
  server = await startServer({
    features: [clientLogos(), clientRegistration({ policy: 'open' })],
    outgoing: outgoing(),
  })
})
afterEach(async () => {
  await server.close()
  await web.close()
})

function send(body: Buffer | string, type = 'image/png'): void {
  web.answer((_request, response) => response.writeHead(200, { 'content-type': type }).end(body))
}

const newClient = () => createClient(server, { settings: { logo_uri: web.urlOf('/logo.png') } })
const logoOf = (id: string) => server.request(`/oauth/logos/${id}`)
const pageOf = async (client_id: string) =>
  (await requestAuthorization(server, 'ada', { client_id, response_type: 'code' })).text()

describe('the logos of clients (threat S6)', () => {
  it('are fetched once and served by this server, and cannot run scripts', async () => {
    send(PNG)
    const { id } = await newClient()
    expect(await pageOf(id)).toContain(`src="/oauth/logos/${id}"`)
    expect(await pageOf(id)).not.toContain('app.example:')
    for (let i = 0; i < 3; i += 1) {
      const reply = await logoOf(id)
      expect(Buffer.from(await reply.arrayBuffer())).toEqual(PNG)
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      })
    }
    expect(web.asked).toHaveLength(1)
  })

  it('are served with the content type that their bytes have, whatever their host declares', async () => {
    send(Buffer.from('GIF89a, and so on'), 'text/html')
    const { id } = await newClient()
    expect((await logoOf(id)).headers.get('content-type')).toBe('image/gif')
  })

  it.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['HTML', '<html><script>alert(1)</script></html>'],
    ['HTML after a space', ' \x89PNG\r\n\x1a\n<script>'],
    ['empty', ''],
    ['too long', Buffer.concat([PNG, Buffer.alloc(300_000)])],
  ])('are refused when they are %s', async (_what, body) => {
    send(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
    const { id } = await newClient()
    expect((await logoOf(id)).status).toBe(404)
    expect((await logoOf(id)).status).toBe(404)
    expect(web.asked).toHaveLength(1)
  })

  it('are hidden for self-registered clients until the operator verifies them', async () => {
    send(PNG)
    const reply = await postJson(server, '/oauth/register', {
      redirect_uris: [REDIRECT],
      logo_uri: web.urlOf('/bank.png'),
    })
    const { client_id } = (await reply.json()) as { client_id: string }
    expect((await logoOf(client_id)).status).toBe(404)
    expect(await pageOf(client_id)).not.toContain('<img')
    expect(web.asked).toEqual([])
    await server.oauth.clients.verify(client_id)
    expect((await logoOf(client_id)).status).toBe(200)
    expect(await pageOf(client_id)).toContain('<img')
  })

  it('are hidden for clients registered by users until verification, and again after a change of the client', async () => {
    send(PNG)
    const { id } = await createClient(server, {
      userId: 'bob',
      settings: { logo_uri: web.urlOf('/bank.png') },
    })
    expect((await logoOf(id)).status).toBe(404)
    expect(await pageOf(id)).not.toContain('<img')
    expect(await pageOf(id)).toContain('unverified')
    expect(web.asked).toEqual([])
    await server.oauth.clients.verify(id)
    expect((await logoOf(id)).status).toBe(200)
    expect(await pageOf(id)).toContain('<img')
    expect(await pageOf(id)).toContain(
      'Another user registered this application. The operator of this server has verified it.',
    )
    await server.oauth.clients.update(id, { name: 'Your bank', by: 'owner' })
    expect((await logoOf(id)).status).toBe(404)
    expect(await pageOf(id)).toContain('unverified')
  })

  it('are answered with 404 if the feature is off, the client has no logo, or the client does not exist', async () => {
    const { id } = await createClient(server)
    expect((await logoOf(id)).status).toBe(404)
    expect((await logoOf('nobody')).status).toBe(404)
    expect(await pageOf(id)).not.toContain('<img')
    const plain = await startServer()
    try {
      expect((await plain.request(`/oauth/logos/${id}`)).status).toBe(404)
    } finally {
      await plain.close()
    }
  })
})
