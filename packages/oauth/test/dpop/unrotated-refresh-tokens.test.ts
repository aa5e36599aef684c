import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dpop } from '../../src/index.ts'
import { createClient, startServer, type TestServer } from '../support.ts'
import {
  askByPassword,
  type KeyHolderKeys,
  newHolder,
  refresh,
  requestBoundTokens,
  tokenProof,
} from './support.ts'

let server: TestServer
let holder: KeyHolderKeys
beforeAll(async () => {
  server = await startServer({ features: [dpop({ rotateRefreshTokens: false })] })
  holder = await newHolder()
})
afterAll(() => server.close())

const grants = ['password', 'refresh_token'] as const
const newClient = (confidential: boolean) => createClient(server, { grants, confidential })

describe('dpop({ rotateRefreshTokens: false }) (threat T6)', () => {
  it.each([
    ['a client with a secret', true],
    ['a public client', false],
  ])('returns the same refresh token to %s at each refresh', async (_who, confidential) => {
    const client = await newClient(confidential)
    const { refresh_token } = await requestBoundTokens(server, client, holder)
    for (let times = 0; times < 3; times += 1) {
      server.clock.advance({ hours: 25 })
      const reply = await refresh(server, client, refresh_token, await tokenProof(server, holder))
      expect([reply.status, (await reply.json()).refresh_token]).toEqual([200, refresh_token])
    }
  })

  it.each([
    ['a public client with another key', false, 'other', 400],
    ['a public client without a key', false, 'none', 400],
    ['a client with a secret and another key', true, 'other', 200],
    ['a client with a secret and no key', true, 'none', 400],
  ] as const)(
    'requires the original key of public clients, and any key of clients with a secret: %s',
    async (_who, confidential, key, status) => {
      const client = await newClient(confidential)
      const { refresh_token } = await requestBoundTokens(server, client, holder)
      const proof = key === 'none' ? null : await tokenProof(server, await newHolder())
      expect((await refresh(server, client, refresh_token, proof)).status).toBe(status)
      // A request without the key does not revoke the grant.
      const honest = await refresh(server, client, refresh_token, await tokenProof(server, holder))
      expect(honest.status).toBe(200)
    },
  )

  it('rotates refresh tokens that were issued without a key', async () => {
    const client = await newClient(true)
    const { refresh_token } = await (await askByPassword(server, client, null)).json()
    const next = await (await refresh(server, client, refresh_token, null)).json()
    expect(next.refresh_token).not.toBe(refresh_token)
    server.clock.advance({ hours: 25 })
    expect((await refresh(server, client, refresh_token, null)).status).toBe(400)
    expect((await refresh(server, client, next.refresh_token, null)).status).toBe(400)
  })

  it('rejects bound refresh tokens without a proof after dpop() was removed', async () => {
    const client = await newClient(false)
    const { refresh_token } = await requestBoundTokens(server, client, holder)
    const first = await refresh(server, client, refresh_token, await tokenProof(server, holder))
    expect(first.status).toBe(200)
    const without = server.another({ features: [] })
    const form = { grant_type: 'refresh_token', client_id: client.id, refresh_token }
    const url = `${server.url}/oauth/token`
    const request = new Request(url, { method: 'POST', body: new URLSearchParams(form) })
    expect((await without.fetch(request)).status).toBe(400)
  })
})
