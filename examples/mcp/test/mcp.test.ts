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

/** Signs in on the page of the example, as a person would. */
async function signIn(): Promise<string> {
  const reply = await fetch(`${app.url}/login`, {
    method: 'POST',
    headers: { origin: app.url },
    body: new URLSearchParams({ email: 'demo@example.com', password: 'demo-password' }),
    redirect: 'manual',
  })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

describe('the mcp example', () => {
  it.each(officialClients)('serves $name from nothing but its address', async (official) => {
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

  it('takes no harm from requests that make no sense', async () => {
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

  it('ends when it is told to', async () => {
    expect(await app.stop()).toBe(0)
  })
})
