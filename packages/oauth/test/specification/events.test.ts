import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditEntry, EventName, OAuthEvents } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TokenReply,
} from '../support.ts'

let server: TestServer
let heard: Array<{ [Name in EventName]: [Name, OAuthEvents[Name]] }[EventName]>
beforeEach(async () => {
  server = await startServer()
  heard = []
  server.oauth.events.on('AccessTokenCreated', (event) => {
    heard.push(['AccessTokenCreated', event])
  })
  server.oauth.events.on('RefreshTokenCreated', (event) => {
    heard.push(['RefreshTokenCreated', event])
  })
  server.oauth.events.on('AccessTokenRevoked', (event) => {
    heard.push(['AccessTokenRevoked', event])
  })
})
afterEach(() => server.close())

const names = () => heard.map(([name]) => name)
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the events of a token request:', () => {
  it('exchanging a code emits AccessTokenCreated and RefreshTokenCreated', async () => {
    const client = await createClient(server)
    await runCodeFlow(server, client)
    await settled()
    const [token] = await server.oauth.tokens.listByUser('ada')
    expect(heard).toEqual([
      ['AccessTokenCreated', { tokenId: token?.id, userId: 'ada', clientId: client.id }],
      [
        'RefreshTokenCreated',
        { refreshTokenId: expect.stringContaining(token?.id ?? ''), accessTokenId: token?.id },
      ],
    ])
  })

  it('a refresh emits AccessTokenCreated and RefreshTokenCreated', async () => {
    const client = await createClient(server)
    const tokens = await runCodeFlow(server, client)
    await settled()
    const first = heard.splice(0)
    await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    await settled()
    expect(names()).toEqual(['AccessTokenCreated', 'RefreshTokenCreated'])
    expect(heard[1]?.[1]).not.toEqual(first[1]?.[1])
  })

  it('client credentials emit only AccessTokenCreated, without a user', async () => {
    const client = await createClient(server, { grants: ['client_credentials'] })
    await server.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
    })
    await settled()
    expect(heard).toEqual([
      ['AccessTokenCreated', { tokenId: expect.any(String), userId: null, clientId: client.id }],
    ])
  })

  it('the implicit grant emits only AccessTokenCreated, whether or not an approval screen is shown', async () => {
    for (const firstParty of [false, true]) {
      const client = await createClient(server, { grants: ['implicit'], firstParty })
      const page = await requestAuthorization(server, 'ada', {
        client_id: client.id,
        redirect_uri: REDIRECT,
        response_type: 'token',
      })
      if (page.status === 200) await submitApprovalDecision(server, 'ada', page)
      await settled()
      expect(heard.splice(0)).toEqual([
        ['AccessTokenCreated', { tokenId: expect.any(String), userId: 'ada', clientId: client.id }],
      ])
    }
  })

  it('creating a personal access token emits only AccessTokenCreated', async () => {
    const body = { name: 'laptop', scopes: [] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', body)
    const { token } = await reply.json()
    await settled()
    expect(heard).toEqual([
      ['AccessTokenCreated', { tokenId: token.id, userId: 'ada', clientId: token.client_id }],
    ])
  })

  it('revoking a token before it expires emits AccessTokenRevoked', async () => {
    const client = await createClient(server)
    const { access_token } = await runCodeFlow(server, client)
    await settled()
    heard.length = 0
    const [token] = await server.oauth.tokens.listByUser('ada')
    const form = { token: access_token, client_id: client.id, client_secret: client.secret }
    await server.post('/oauth/revoke', form)
    await server.post('/oauth/revoke', form)
    await settled()
    expect(heard).toEqual([['AccessTokenRevoked', { tokenId: token?.id }]])
  })

  it('a refused request emits no event', async () => {
    const client = await createClient(server, { grants: ['password'] })
    await server.post('/oauth/token', {
      grant_type: 'password',
      client_id: client.id,
      client_secret: client.secret,
      username: 'ada@example.com',
      password: 'wrong',
    })
    await settled()
    expect(heard).toEqual([])
  })

  it('an event is emitted after the commit, so a listener can read the token and revoke others', async () => {
    const client = await createClient(server)
    const first = await runCodeFlow(server, client)
    const done = new Promise<void>((resolve, reject) => {
      server.oauth.events.on('AccessTokenCreated', async ({ tokenId, userId, clientId }) => {
        try {
          expect(await server.oauth.tokens.find(tokenId)).toMatchObject({ id: tokenId })
          for (const token of await server.oauth.tokens.listByUser(userId ?? '')) {
            const old = token.clientId === clientId && token.id !== tokenId
            if (old) await server.oauth.tokens.revoke(token.id)
          }
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
    const second = await runCodeFlow(server, client)
    await done
    const verdict = async ({ access_token }: TokenReply) => {
      const credentials = { authorization: `Bearer ${access_token}`, cookie: null, csrfToken: null }
      try {
        await server.oauth.guard.authenticate('api', credentials)
        return 'alive'
      } catch {
        return 'ended'
      }
    }
    expect(await verdict(first)).toBe('ended')
    expect(await verdict(second)).toBe('alive')
  })

  it('a failing listener is logged and does not affect the request', async () => {
    server.oauth.events.on('AccessTokenCreated', () => {
      throw new Error('thrown')
    })
    server.oauth.events.on('AccessTokenCreated', async () => {
      throw new Error('rejected')
    })
    const after: string[] = []
    server.oauth.events.on('AccessTokenCreated', ({ tokenId }) => {
      after.push(tokenId)
    })
    await runCodeFlow(server, await createClient(server))
    await settled()
    expect(after).toHaveLength(1)
    expect(server.logged).toEqual([
      ['A listener of AccessTokenCreated failed', new Error('thrown')],
      ['A listener of AccessTokenCreated failed', new Error('rejected')],
    ])
  })

  it('a hanging listener does not delay the response', async () => {
    server.oauth.events.on('AccessTokenCreated', () => new Promise<void>(() => {}))
    await runCodeFlow(server, await createClient(server))
    await settled()
    expect(names()).toEqual(['AccessTokenCreated', 'RefreshTokenCreated'])
  })

  it('a listener can be removed again', async () => {
    let count = 0
    const off = server.oauth.events.on('AccessTokenCreated', () => {
      count += 1
    })
    const client = await createClient(server)
    await runCodeFlow(server, client)
    await settled()
    off()
    await runCodeFlow(server, client)
    await settled()
    expect(count).toBe(1)
  })
})

describe('oauth.events.audit()', () => {
  const entry: AuditEntry = {
    ...{ id: '1', at: new Date(0), actor: { kind: 'operator', id: '7' } },
    ...{ operation: 'notes.delete', outcome: 'done', subject: { kind: 'note', id: '3' } },
    ...{ ownerId: 'ada', details: {}, intentId: null },
  }

  it('resolves when every listener of AuditEntryAdded has finished, even if others fail', async () => {
    const finished: AuditEntry[] = []
    server.oauth.events.on('AuditEntryAdded', () => {
      throw new Error('This listener always fails')
    })
    const remove = server.oauth.events.on('AuditEntryAdded', async (added) => {
      await settled()
      finished.push(added)
    })
    await server.oauth.events.audit(entry)
    expect(finished).toEqual([entry])
    remove()
    await server.oauth.events.audit(entry)
    expect(finished).toHaveLength(1)
    expect(heard).toEqual([])
  })
})
