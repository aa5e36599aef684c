import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../support.ts'
import { assertingClients, REFUSED, startAsserting } from './asserting-clients.ts'
import { callWith, createSigner, type Signer, startWebServer, type WebServer } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startAsserting()
})
afterAll(() => server.close())

const { newClient, proofOf, problemWith } = assertingClients(() => server)

describe('the keys at the jwks_uri of a client', () => {
  let web: WebServer
  beforeEach(async () => {
    web = await startWebServer()
  })
  afterEach(() => web.close())

  const clientAt = (jwks_uri: string) =>
    newClient({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri })

  it('are fetched once for many requests', async () => {
    const signer = await createSigner('ES256')
    web.answerJson({ keys: [signer.jwk] })
    const { id } = await clientAt(web.urlOf('/jwks', 'keys.example'))
    for (let i = 0; i < 3; i += 1) {
      expect((await callWith(server, await proofOf({ id, signer }))).status).toBe(200)
    }
    expect(web.asked).toHaveLength(1)
  })

  it('are fetched again for an unknown key id, but not for each of many forged key ids', async () => {
    const [old, next] = [await createSigner('ES256', 'old'), await createSigner('ES256', 'new')]
    web.answerJson({ keys: [old.jwk] })
    const { id } = await clientAt(web.urlOf('/rotating', 'keys.example'))
    const proof = async (signer: Signer, kid: string) => proofOf({ id, signer }, {}, { kid })
    expect((await callWith(server, await proof(old, 'old'))).status).toBe(200)
    web.answerJson({ keys: [next.jwk] })
    // Within the minimum interval only the cached keys count.
    expect((await callWith(server, await proof(next, 'new'))).status).toBe(401)
    expect(web.asked).toHaveLength(1)
    server.clock.advance({ seconds: 31 })
    expect((await callWith(server, await proof(next, 'new'))).status).toBe(200)
    expect((await callWith(server, await proof(old, 'old'))).status).toBe(401)
    expect(web.asked).toHaveLength(2)
  })

  it('are fetched again for a client that registered after the last fetch', async () => {
    const [old, next] = [await createSigner('ES256', 'old'), await createSigner('ES256', 'new')]
    const uri = web.urlOf('/handed-on', 'keys.example')
    web.answerJson({ keys: [old.jwk] })
    const first = await clientAt(uri)
    await callWith(server, await proofOf({ id: first.id, signer: old }, {}, { kid: 'old' }))
    web.answerJson({ keys: [next.jwk] })
    server.clock.advance({ seconds: 2 })
    const second = await clientAt(uri)
    const proof = () => proofOf({ id: second.id, signer: next }, {}, { kid: 'new' })
    expect((await callWith(server, await proof())).status).toBe(200)
    const forged = await proofOf({ id: second.id, signer: old }, {}, { kid: 'old' })
    expect((await callWith(server, forged)).status).toBe(401)
    expect(web.asked).toHaveLength(2)
  })

  it.each([
    ['a server error', 500, '{}'],
    ['JSON that is no key set', 200, '[]'],
    ['nothing', 200, ''],
    ['keys that are no list', 200, '{"keys":{}}'],
  ])(
    'make the server refuse the client, without giving details, if the URL returns %s',
    async (_what, status, text) => {
      web.answer((_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(text),
      )
      const signer = await createSigner('ES256')
      const { id } = await clientAt(web.urlOf(`/${status}/${text.length}`, 'keys.example'))
      const problem = await problemWith(await proofOf({ id, signer }))
      expect(problem).toMatchObject(REFUSED)
      expect(JSON.stringify(problem)).not.toContain('127.0.0.1')
      expect(server.logged).toEqual([])
    },
  )
})
