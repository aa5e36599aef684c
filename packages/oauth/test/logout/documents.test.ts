import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientMetadataDocuments, openid } from '../../src/index.ts'
import { outgoing, startWebServer, type WebServer } from '../registration/support.ts'
import { REDIRECT, runCodeFlow, startServer, type TestServer } from '../support.ts'
import {
  HOME,
  pollUntilTrue,
  type Receiver,
  startReceiver,
  UsersWithSignOut,
  visit,
} from './support.ts'

let web: WebServer
let receiver: Receiver
let server: TestServer
let clientId: string
let hint: string
beforeEach(async () => {
  web = await startWebServer()
  receiver = await startReceiver()
  server = await startServer({
    users: new UsersWithSignOut(),
    features: [clientMetadataDocuments(), openid({ logout: true })],
    selfRegistered: { scopes: ['openid'] },
    outgoing: outgoing(),
  })
  clientId = web.urlOf('/client.json')
  web.answerJson({
    client_id: clientId,
    redirect_uris: [REDIRECT],
    backchannel_logout_uri: receiver.url,
    post_logout_redirect_uris: [HOME],
  })
  const tokens: object = await runCodeFlow(
    server,
    { id: clientId, secret: '' },
    { scope: 'openid' },
  )
  hint = (tokens as { id_token: string }).id_token
})
afterEach(async () => {
  await server.close()
  await web.close()
  await receiver.close()
})

describe('logout of a person at a client with a metadata document', () => {
  it.each([{}, { named: true }])(
    'signs the person out, and redirects back to the client (options of the request: %j)',
    async ({ named }) => {
      const reply = await visit(server, {
        id_token_hint: hint,
        post_logout_redirect_uri: HOME,
        ...(named && { client_id: clientId }),
      })
      expect(reply.headers.get('location')).toBe(HOME)
    },
  )

  it("sends a logout token with the same client id in aud as the client's ID tokens", async () => {
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1)
    const { aud, sub, sid } = decodeJwt(receiver.forms[0]?.get('logout_token') ?? '')
    expect({ aud, sub, sid }).toEqual({
      aud: clientId,
      sub: decodeJwt(hint).sub,
      sid: decodeJwt(hint).sid,
    })
  })

  it('asks the person to confirm if the document no longer exists', async () => {
    web.answer((_request, response) => response.writeHead(404).end())
    server.clock.advance({ hours: 1 })
    const page = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Sign out?')
  })
})
