import { afterEach, describe, expect, it } from 'vitest'
import { Plan, PROBLEM } from '../scope-limits/support.ts'
import { createHost } from './host.ts'
import { type NotesServer, startNotes } from './notes-server.ts'
import { officialClients } from './official-clients.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(): Promise<NotesServer> {
  const server = await startNotes()
  closing.push(() => server.close())
  return server
}

describe.each(officialClients)(
  'a limit that withholds the scope of an MCP tool (threat G10), with $name,',
  (official) => {
    it('makes the call fail without showing the approval screen, and the same token works again once the limit ends', async () => {
      const server = await start()
      const host = createHost()
      const first = official.open(server.address, host)
      closing.push(() => first.close())
      await expect(first.connect()).rejects.toThrow()
      await first.finish(await host.visit())
      const connection = official.open(server.address, host)
      closing.push(() => connection.close())
      await connection.connect()
      expect(await connection.call('list_notes')).toBe('0 notes')
      host.sentTo = undefined
      const { current } = host

      const remove = server.oauth.limitScopes(new Plan('notes:read'))
      await expect(connection.call('list_notes')).rejects.toThrow(/402|Not in your plan/)
      expect(host.sentTo).toBeUndefined()
      expect(host.current).toEqual(current)

      remove()
      expect(await connection.call('list_notes')).toBe('0 notes')
      expect(host.current).toEqual(current)
    })
  },
)

describe('a call to an MCP tool', () => {
  it("gets the limiter's response without a challenge if its scope is withheld, and 403 with a challenge if the token lacks the scope", async () => {
    const server = await start()
    const host = createHost()
    const [official] = officialClients
    if (!official) throw new Error('There is no official client')
    const connection = official.open(server.address, host)
    closing.push(() => connection.close())
    await expect(connection.connect()).rejects.toThrow()
    await connection.finish(await host.visit())
    const call = (name: string) =>
      fetch(server.address, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${host.current?.access_token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }),
      })
    const remove = server.oauth.limitScopes(new Plan('notes:read', 'notes:write'))
    const refused = await call('list_notes')
    expect(refused.status).toBe(402)
    expect(refused.headers.get('content-type')).toBe(PROBLEM)
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect(await refused.json()).toMatchObject({ scopes: ['notes:read'] })
    const lacking = await call('add_note')
    expect(lacking.status).toBe(403)
    expect(lacking.headers.get('www-authenticate')).toContain('resource_metadata=')
    remove()
    expect((await call('list_notes')).status).toBe(200)
  })
})
