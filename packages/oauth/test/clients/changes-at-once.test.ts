import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  clientMetadataDocuments,
  clientRegistration,
  jwtClientAuthentication,
  memoryStorage,
} from '../../src/index.ts'
import {
  flowOf,
  METADATA,
  PLENTY,
  type Registered,
  registerAt,
} from '../registration/registering.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  outgoing,
  postJson,
  sign,
  startWebServer,
  type WebServer,
} from '../registration/support.ts'
import { codeFlow, REDIRECT, startServer, type TestServer } from '../support.ts'

let web: WebServer
let server: TestServer
/** Happens once, just before the next change of a client is written: what it rests on was read before. */
let meanwhile: (() => Promise<unknown>) | null

beforeEach(async () => {
  web = await startWebServer()
  const storage = memoryStorage()
  const { update } = storage.clients
  meanwhile = null
  const clients: typeof storage.clients = {
    ...storage.clients,
    async update(...change) {
      const happens = meanwhile
      meanwhile = null
      await happens?.()
      return update(...change)
    },
  }
  server = await startServer({
    storage: { ...storage, clients },
    features: [
      clientRegistration({ policy: 'open', perMinute: PLENTY }),
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

describe('two changes of a client at once', () => {
  it('threat S3 one that is used for the first time while it changes is not vouched for', async () => {
    const client = await registerAt(server)
    await server.oauth.clients.verify(client.client_id)
    const bank = { client_name: 'Your bank', policy_uri: 'https://bank.example/policy' }
    meanwhile = () => replace(client, bank)
    await codeFlow(server, flowOf(client))
    const settings = await settingsOf(client.client_id)
    expect(settings).toMatchObject({ policy_uri: bank.policy_uri, self_registered: {} })
    expect(settings?.self_registered).not.toHaveProperty('verified')
    expect(settings?.self_registered).not.toHaveProperty('unused_until')
  })

  it('threat S3 one that changes while somebody vouches for it has to be looked at again', async () => {
    const client = await registerAt(server)
    meanwhile = () => replace(client, { client_name: 'Your bank' })
    await expect(server.oauth.clients.verify(client.client_id)).rejects.toThrow('look at it again')
    expect((await settingsOf(client.client_id))?.self_registered).not.toHaveProperty('verified')
  })

  it('threat M4 a secret that was rotated meanwhile does not come back', async () => {
    const client = await registerAt(server, { token_endpoint_auth_method: 'client_secret_jwt' })
    let rotated: string | null = null
    meanwhile = async () => {
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

  it('a document that is followed undoes nothing', async () => {
    const client_id = web.urlOf('/client.json')
    const document = { client_id, redirect_uris: [REDIRECT], grant_types: ['authorization_code'] }
    web.answerJson(document)
    await codeFlow(server, { id: client_id, secret: '' })
    const [row] = await server.oauth.clients.list()
    const id = row?.id ?? ''
    server.clock.advance('1h')
    web.answerJson({ ...document, tos_uri: 'https://app.example/terms' })
    meanwhile = () => server.oauth.clients.verify(id)
    await codeFlow(server, { id: client_id, secret: '' })
    const settings = await settingsOf(id)
    expect(settings).toMatchObject({ tos_uri: 'https://app.example/terms' })
    expect(settings?.self_registered).not.toHaveProperty('verified')
  })

  it('goes on when both were good', async () => {
    const client = await registerAt(server)
    meanwhile = () => server.oauth.clients.verify(client.client_id)
    await codeFlow(server, flowOf(client))
    expect((await settingsOf(client.client_id))?.self_registered).toMatchObject({ verified: true })
  })
})
