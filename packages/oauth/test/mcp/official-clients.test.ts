import { decodeJwt } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { outgoing, startWebServer } from '../registration/support.ts'
import { CALLBACK, createHost, type Host } from './host.ts'
import { type NotesOptions, type NotesServer, startNotes } from './notes-server.ts'
import { type Connection, type OfficialClient, officialClients } from './official-clients.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(options: NotesOptions = {}): Promise<NotesServer> {
  const server = await startNotes(options)
  closing.push(() => server.close())
  return server
}

function open(official: OfficialClient, { address }: NotesServer, host: Host): Connection {
  const connection = official.open(address, host)
  closing.push(() => connection.close())
  return connection
}

/** Connects, approves as the person, and returns a connection with a token. */
async function authorize(
  official: OfficialClient,
  server: NotesServer,
  host = createHost(),
): Promise<Connection> {
  const first = open(official, server, host)
  await expect(first.connect()).rejects.toThrow()
  await first.finish(await host.visit())
  const connection = open(official, server, host)
  await connection.connect()
  return connection
}

const scopesOf = ({ current }: Host) => decodeJwt(current?.access_token ?? '').scope

function withoutRefresh({ current }: Host): NonNullable<Host['current']> {
  const { refresh_token: _, ...tokens } = current ?? { access_token: '', token_type: 'Bearer' }
  return tokens
}

describe.each(officialClients)(
  'the official MCP client $name, which is given only the address of the MCP server,',
  (official) => {
    it("finds the authorization server, registers itself, gets the person's approval, and calls a tool", async () => {
      const server = await start()
      const host = createHost()
      const connection = await authorize(official, server, host)
      expect(await connection.call('list_notes')).toBe('0 notes')
      const { aud, client_id, scope } = decodeJwt(host.current?.access_token ?? '')
      expect([aud, scope]).toEqual([server.address, 'notes:read'])
      expect(client_id).toBe(host.information?.client_id)
      const row = await server.oauth.clients.find(String(client_id))
      expect(row).toMatchObject({ confidential: false, redirectUris: [CALLBACK] })
    })

    it('needs no registration if it identifies itself with a client ID metadata document', async () => {
      const web = await startWebServer()
      closing.push(() => web.close())
      const client_id = web.urlOf('/client.json')
      web.answerJson({
        ...createHost().clientMetadata,
        client_id,
        client_uri: web.urlOf('/'),
      })
      const server = await start({ registration: 'closed', changes: { outgoing: outgoing() } })
      const host = createHost(client_id)
      const connection = await authorize(official, server, host)
      expect(await connection.call('list_notes')).toBe('0 notes')
      expect(host.information?.client_id).toBe(client_id)
      expect(host.current?.refresh_token).toBeDefined()
    })

    it("gets the person's approval for another scope that a tool needs, and retries the call", async () => {
      const server = await start()
      const host = createHost()
      const connection = await authorize(official, server, host)
      if (!official.asksAgain) host.current = withoutRefresh(host)
      await expect(connection.call('add_note')).rejects.toThrow()
      expect(host.sentTo?.searchParams.get('scope')).toBe('notes:read notes:write')
      await connection.finish(await host.visit())
      expect(await connection.call('add_note')).toBe('written as 1')
      expect(await connection.call('list_notes')).toBe('1 notes')
      expect(scopesOf(host)).toBe('notes:read notes:write')
    })

    it('refreshes an expired token, and the refresh token rotates', async () => {
      const server = await start()
      const host = createHost()
      const connection = await authorize(official, server, host)
      const before = host.current
      server.clock.advance({ seconds: 3601 })
      expect(await connection.call('list_notes')).toBe('0 notes')
      expect(host.sentTo).toBeUndefined()
      expect(host.current?.access_token).not.toBe(before?.access_token)
      expect(host.current?.refresh_token).not.toBe(before?.refresh_token)
    })

    it('sends the person to the approval screen again after its tokens and approval were revoked', async () => {
      const server = await start()
      const host = createHost()
      const connection = await authorize(official, server, host)
      await server.oauth.consents.revoke('ada', host.information?.client_id ?? '')
      await expect(connection.call('list_notes')).rejects.toThrow()
      expect(host.sentTo?.pathname).toBe('/oauth/authorize')
      await connection.finish(await host.visit())
      expect(await connection.call('list_notes')).toBe('0 notes')
    })

    it('gets no token when the person denies', async () => {
      const server = await start()
      const host = createHost()
      const connection = open(official, server, host)
      await expect(connection.connect()).rejects.toThrow()
      const back = await host.visit({ decision: 'deny' })
      expect(Object.fromEntries(back)).toMatchObject({
        error: 'access_denied',
        iss: server.url,
        state: 'a state',
      })
      await expect(connection.finish(back)).rejects.toThrow()
      expect(host.current).toBeUndefined()
    })

    it('fails without a metadata document if registration is closed', async () => {
      const server = await start({ registration: 'closed' })
      const host = createHost()
      await expect(open(official, server, host).connect()).rejects.toThrow(
        /does not support dynamic client registration/,
      )
      expect(host.sentTo).toBeUndefined()
    })

    it('cannot use its token at another MCP server of the same host', async () => {
      const server = await start({ other: '/other' })
      const host = createHost()
      await expect(open(official, server, host).connect()).rejects.toThrow()
      // The same person, client and scopes: only the audience differs.
      host.sentTo?.searchParams.set('resource', `${server.url}/other`)
      const back = await host.visit()
      const reply = await server.post('/oauth/token', {
        grant_type: 'authorization_code',
        client_id: host.information?.client_id ?? '',
        code: back.get('code') ?? '',
        code_verifier: await host.codeVerifier(),
        redirect_uri: CALLBACK,
      })
      host.current = (await reply.json()) as NonNullable<Host['current']>
      expect(decodeJwt(host.current.access_token).aud).toBe(`${server.url}/other`)
      host.current = withoutRefresh(host)
      await expect(open(official, server, host).connect()).rejects.toThrow()
      expect(host.sentTo?.searchParams.get('resource')).toBe(server.address)
    })

    it('asks the person again if its token has expired and cannot be refreshed', async () => {
      const server = await start()
      const host = createHost()
      await authorize(official, server, host)
      host.current = withoutRefresh(host)
      server.clock.advance({ seconds: 3601 })
      await expect(open(official, server, host).connect()).rejects.toThrow()
      expect(host.sentTo?.pathname).toBe('/oauth/authorize')
    })
  },
)
