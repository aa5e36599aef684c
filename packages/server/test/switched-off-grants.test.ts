import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: { passwordGrant: false, implicitGrant: false } })
  await service.users.create({ email: EMAIL, password: PASSWORD })
})
afterAll(() => service.stop())

describe('grants that are switched off', () => {
  it('are not in the metadata', async () => {
    const response = await fetch(`${service.url}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, string[]>
    expect(metadata.grant_types_supported).not.toContain('password')
    expect(metadata.response_types_supported).toEqual(['code'])
  })

  it('are rejected for clients that were made for them', async () => {
    const { id = '', secret } = service.demo?.clients.password ?? {}
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: id,
        client_secret: secret ?? '',
        username: EMAIL,
        password: PASSWORD,
      }),
    })
    expect(await response.json()).toMatchObject({ error: 'unsupported_grant_type' })
  })

  it('are rejected for new clients, and are not offered on the page for clients', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    expect(await (await browser.get('/clients')).text()).not.toContain('implicit')
    expect(await (await browser.get('/')).text()).not.toContain('implicit')
    const created = await fetch(`${service.url}/oauth/clients`, {
      method: 'POST',
      headers: {
        cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'content-type': 'application/json',
        'x-csrf-token': await browser.csrfToken(),
        origin: service.url,
      },
      body: JSON.stringify({ name: 'x', redirect: 'https://x.example/', implicit: true }),
    })
    expect(created.status).toBe(422)
    expect(await created.json()).toMatchObject({
      errors: { implicit: ['This server does not offer the implicit flow.'] },
    })
  })
})

describe('a HEAD request', () => {
  it.each(['/login', '/healthz', '/account', '/.well-known/jwks.json', '/nothing'])(
    'is answered for %s like GET, without content',
    async (path) => {
      const get = await fetch(`${service.url}${path}`, { redirect: 'manual' })
      await get.arrayBuffer()
      const head = await fetch(`${service.url}${path}`, { method: 'HEAD', redirect: 'manual' })
      expect(head.status).toBe(get.status)
      expect((await head.arrayBuffer()).byteLength).toBe(0)
      for (const name of ['content-type', 'location', 'cache-control', 'x-frame-options']) {
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
      }
    },
  )
})
