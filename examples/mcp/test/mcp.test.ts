import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHost } from '../../../packages/oauth/test/mcp/host.ts'
import { officialClients } from '../../../packages/oauth/test/mcp/official-clients.ts'
import { type ExampleProcess, startExampleProcess } from '../../../test-support/example-app.ts'

let app: ExampleProcess
let address: string
beforeAll(async () => {
  app = await startExampleProcess({ name: 'mcp', args: ['dist/main.js'] })
  address = (await app.waitFor(/Give your MCP client\s+(\S+)/))[1] ?? ''
})
afterAll(() => app?.stop())

/** Signs in on the page of the example, as a user would. */
async function signIn(): Promise<string> {
  const reply = await fetch(`${app.url}/login`, {
    method: 'POST',
    headers: { origin: app.url },
    body: new URLSearchParams({ email: 'demo@example.com', password: 'demo-password' }),
    redirect: 'manual',
  })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

describe('the example of an MCP server', () => {
  it.each(officialClients)('works for $name, which knows only its URL', async (official) => {
    const session = await signIn()
    const visitAs = (url: URL | string, init: RequestInit) =>
      fetch(url, { ...init, headers: { ...init.headers, cookie: session } })
    const host = createHost()
    const first = official.open(address, host)
    await expect(first.connect()).rejects.toThrow()
    await first.finish(await host.visit({ fetch: visitAs }))
    const connection = official.open(address, host)
    await connection.connect()
    expect(await connection.call('list_notes')).toMatch(/no notes|first note/)

    const { refresh_token: _, ...tokens } = host.current ?? { access_token: '', token_type: '' }
    if (!official.asksAgain) host.current = tokens
    const note = { text: `The first note of ${official.name}` }
    await expect(connection.call('add_note', note)).rejects.toThrow()
    await connection.finish(await host.visit({ fetch: visitAs }))
    expect(await connection.call('add_note', note)).toMatch(/^Note \d is written\.$/)
    expect(await connection.call('list_notes')).toContain(note.text)
    await connection.close()
  })

  it('lets a client request another account, or that the password is typed again', async () => {
    const client = { redirect_uris: ['http://127.0.0.1/callback'] }
    const registered = await fetch(`${app.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...client, token_endpoint_auth_method: 'none' }),
    })
    const { client_id } = (await registered.json()) as { client_id: string }
    const cookie = await signIn()
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
    for (const prompt of ['select_account', 'login']) {
      const query = { client_id, response_type: 'code', prompt, ...challenge }
      const visit = (path: string, session: string) =>
        fetch(new URL(path, app.url), {
          headers: { cookie: session, accept: 'text/html' },
          redirect: 'manual',
        })
      const asked = await visit(`/oauth/authorize?${new URLSearchParams(query)}`, cookie)
      const page = new URL(asked.headers.get('location') ?? '', app.url)
      expect(page.pathname).toBe('/login')
      expect((await visit(page.href, cookie)).status).toBe(200)
      const back = await visit(page.searchParams.get('return_to') ?? '', await signIn())
      expect(await back.text()).toContain('asks for access')
    }
  })

  it('survives malformed requests', async () => {
    const send = (body: string, headers = {}) =>
      fetch(address, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
    for (const body of ['', '{', '[]', 'null']) expect((await send(body)).status).toBe(401)
    expect((await send('{}', { authorization: 'Bearer none' })).status).toBe(401)
    expect((await fetch(address)).status).toBe(401)
    expect((await send('{}', { origin: 'https://evil.example' })).status).toBe(403)
  })

  it('stops cleanly after SIGTERM', async () => {
    expect(await app.stop()).toBe(0)
  })
})
