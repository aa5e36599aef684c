import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { kyselyStorage } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

let server: TestServer
let statements: string[] = []
beforeAll(async () => {
  server = await startServer({
    connect: { onQuery: (sql) => statements.push(sql) },
  })
})
beforeEach(() => {
  statements = []
})
afterAll(() => server.close())

const machine = () => createClient(server, { grants: ['client_credentials'] })
const send = (
  { id, secret }: { id: string; secret: string },
  form: Record<string, string> = { grant_type: 'client_credentials' },
  path = '/oauth/token',
) => server.post(path, { client_id: id, client_secret: secret, ...form })
const useOf = async (id: string) => (await server.oauth.clients.lastUsed([id])).get(id)
const writes = () =>
  statements.filter((sql) => /^update \Woauth_clients\W set \Wlast_used_at/.test(sql)).length

describe('the last use of a client, which clients.lastUsed() returns,', () => {
  it('is the time at which the client last got a token, and is missing for a client that was never used', async () => {
    const [used, idle] = [await machine(), await machine()]
    const at = server.clock.now()
    expect((await send(used)).status).toBe(200)
    const uses = await server.oauth.clients.lastUsed([used.id, idle.id, 'nobody', '\0', used.id])
    expect(uses).toEqual(new Map([[used.id, at]]))
  })

  it('is accurate to a day, and is written once per day and process instead of once per token', async () => {
    const client = await machine()
    const first = server.clock.now()
    statements = []
    for (let count = 0; count < 5; count += 1) await send(client)
    expect(writes()).toBe(1)
    server.clock.advance({ hours: 23 })
    await send(client)
    expect(writes()).toBe(1)
    expect(await useOf(client.id)).toEqual(first)
    server.clock.advance({ hours: 1 })
    statements = []
    await send(client)
    expect(writes()).toBe(1)
    expect(await useOf(client.id)).toEqual(server.clock.now())
  })

  it('includes refreshes of old grants, introspection and the implicit flow', async () => {
    const app = await createClient(server)
    const { access_token, refresh_token } = await runCodeFlow(server, app)
    server.clock.advance({ days: 30 })
    await send(app, { grant_type: 'refresh_token', refresh_token })
    expect(await useOf(app.id)).toEqual(server.clock.now())

    const api = await createClient(server, { resourceServer: true })
    await send(api, { token: access_token }, '/oauth/introspect')
    expect(await useOf(api.id)).toEqual(server.clock.now())

    const page = await createClient(server, { grants: ['implicit'] })
    const request = { client_id: page.id, redirect_uri: REDIRECT, response_type: 'token' }
    await submitApprovalDecision(server, 'ada', await requestAuthorization(server, 'ada', request))
    expect(await useOf(page.id)).toEqual(server.clock.now())
  })

  it('does not include requests that fail', async () => {
    const client = await machine()
    expect((await send({ ...client, secret: 'wrong' })).status).toBe(401)
    expect((await send(client, { grant_type: 'password' })).status).toBe(400)
    expect(await useOf(client.id)).toBeUndefined()
  })

  it('is recorded without changing the client, and does not conflict with concurrent changes of the client', async () => {
    const client = await machine()
    const before = await server.oauth.clients.find(client.id)
    await send(client)
    expect(await server.oauth.clients.find(client.id)).toEqual(before)
    const unchangedSince = before?.updatedAt ?? new Date(0)
    await server.oauth.clients.update(client.id, { name: 'New', unchangedSince })
    expect(await useOf(client.id)).toBeDefined()
  })

  it('can be read for at most 1000 clients at once', async () => {
    const ids = Array.from({ length: 1001 }, (_, index) => `id-${index}`)
    await expect(server.oauth.clients.lastUsed(ids)).rejects.toMatchObject({
      code: 'validation_failed',
    })
    expect(await server.oauth.clients.lastUsed(ids.slice(1))).toEqual(new Map())
  })

  it('is recorded at the next use if recording fails; the request succeeds anyway', async () => {
    const own = await startServer()
    try {
      const storage = kyselyStorage(own.database)
      let fails = true
      const recordUse: typeof storage.clients.recordUse = async (...use) => {
        if (fails) throw new Error('disk full')
        return storage.clients.recordUse(...use)
      }
      const clients = { ...storage.clients, recordUse }
      const faulty = own.another({
        storage: { ...storage, clients },
        database: undefined,
      } as object)
      const { id, secret } = await createClient(own, { grants: ['client_credentials'] })
      const ask = () => {
        const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
        const body = new URLSearchParams(form)
        return faulty.fetch(new Request(`${own.url}/oauth/token`, { method: 'POST', body }))
      }
      expect((await ask()).status).toBe(200)
      expect(own.logged).toHaveLength(1)
      fails = false
      expect((await ask()).status).toBe(200)
      expect((await own.oauth.clients.lastUsed([id])).has(id)).toBe(true)
    } finally {
      await own.close()
    }
  })
})
