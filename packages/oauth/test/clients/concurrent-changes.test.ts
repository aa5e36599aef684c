import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  clientMetadataDocuments,
  clientRegistration,
  jwtClientAuthentication,
  memoryStorage,
} from '../../src/index.ts'
import {
  METADATA,
  type Registered,
  registerAt,
  toFlowClient,
  UNLIMITED,
} from '../registration/open-registration.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  outgoing,
  postJson,
  sign,
  startWebServer,
  type WebServer,
} from '../registration/support.ts'
import { REDIRECT, runCodeFlow, startServer, type TestServer } from '../support.ts'

let web: WebServer
let server: TestServer
/** Runs once, just before the next update of a client is written and after the old row was read. */
let beforeNextUpdate: (() => Promise<unknown>) | null

beforeEach(async () => {
  web = await startWebServer()
  const storage = memoryStorage()
  const { update } = storage.clients
  beforeNextUpdate = null
  const clients: typeof storage.clients = {
    ...storage.clients,
    async update(...change) {
      const action = beforeNextUpdate
      beforeNextUpdate = null
      await action?.()
      return update(...change)
    },
  }
  server = await startServer({
    storage: { ...storage, clients },
    features: [
      clientRegistration({ policy: 'open', perMinute: UNLIMITED }),
      clientMetadataDocuments(),
      jwtClientAuthentication({ sharedSecrets: true }),
    ],
    selfRegistered: { scopes: ['place-orders'] },
    outgoing: outgoing(),
  })
})
afterEach(async () => {
  await server.close()
  await web.close()
})

const replace = ({ client_id, registration_access_token }: Registered, metadata: object) =>
  postJson(
    server,
    `/oauth/register/${client_id}`,
    { ...METADATA, client_id, ...metadata },
    { authorization: `Bearer ${registration_access_token}` },
    'PUT',
  )
const settingsOf = async (id: string) => (await server.oauth.clients.find(id))?.settings

describe('concurrent changes of a client', () => {
  it('a first use of a client, concurrent with a change of its metadata, does not make the client verified again (threat S3)', async () => {
    const client = await registerAt(server)
    await server.oauth.clients.verify(client.client_id)
    const bank = { client_name: 'Your bank', policy_uri: 'https://bank.example/policy' }
    beforeNextUpdate = () => replace(client, bank)
    await runCodeFlow(server, toFlowClient(client))
    const settings = await settingsOf(client.client_id)
    expect(settings).toMatchObject({ policy_uri: bank.policy_uri, self_registered: {} })
    expect(settings?.self_registered).not.toHaveProperty('verified')
    expect(settings?.self_registered).not.toHaveProperty('unused_until')
  })

  it("verification by the operator fails if the client's metadata changes at the same time (threat S3)", async () => {
    const client = await registerAt(server)
    beforeNextUpdate = () => replace(client, { client_name: 'Your bank' })
    await expect(server.oauth.clients.verify(client.client_id)).rejects.toThrow('Review it again')
    expect((await settingsOf(client.client_id))?.self_registered).not.toHaveProperty('verified')
  })

  it('replacing the metadata does not restore a secret that was rotated at the same time (threat M4)', async () => {
    const client = await registerAt(server, { token_endpoint_auth_method: 'client_secret_jwt' })
    let rotated: string | null = null
    beforeNextUpdate = async () => {
      rotated = (await server.oauth.clients.rotateSecret(client.client_id)).secret
    }
    const reply = await replace(client, { token_endpoint_auth_method: 'client_secret_jwt' })
    expect(reply.status).toBe(200)
    const errorWith = async (secret: string | null | undefined) => {
      const key = new TextEncoder().encode(secret ?? '')
      const assertion = await sign(assertionClaims(server, client.client_id), key, { alg: 'HS256' })
      const answer = await server.post('/oauth/token', {
        grant_type: 'authorization_code',
        code: 'none',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: assertion,
      })
      return ((await answer.json()) as { error: string }).error
    }
    expect(await errorWith(rotated)).toBe('invalid_grant')
    expect(await errorWith(client.client_secret)).toBe('invalid_client')
  })

  it('fetching a client ID metadata document again does not undo concurrent changes', async () => {
    const client_id = web.urlOf('/client.json')
    const document = { client_id, redirect_uris: [REDIRECT], grant_types: ['authorization_code'] }
    web.answerJson(document)
    await runCodeFlow(server, { id: client_id, secret: '' })
    const [row] = await server.oauth.clients.list()
    const id = row?.id ?? ''
    server.clock.advance({ hours: 1 })
    web.answerJson({ ...document, tos_uri: 'https://app.example/terms' })
    beforeNextUpdate = () => server.oauth.clients.verify(id)
    await runCodeFlow(server, { id: client_id, secret: '' })
    const settings = await settingsOf(id)
    expect(settings).toMatchObject({ tos_uri: 'https://app.example/terms' })
    expect(settings?.self_registered).not.toHaveProperty('verified')
  })

  it('a verification by the operator and a concurrent first use are both stored', async () => {
    const client = await registerAt(server)
    beforeNextUpdate = () => server.oauth.clients.verify(client.client_id)
    await runCodeFlow(server, toFlowClient(client))
    expect((await settingsOf(client.client_id))?.self_registered).toMatchObject({ verified: true })
  })
})
