import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { expectNoChange } from './rows.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

/** Returns `screen` when the person is asked, or else the parameters redirected to the client. */
async function ask(
  client: { id: string },
  change: Record<string, string> = {},
  user = 'ada',
): Promise<'screen' | 'sign in' | 'code' | string> {
  const reply = await requestAuthorization(server, user, {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
    ...change,
  })
  if (reply.status === 200) return 'screen'
  const location = reply.headers.get('location') ?? ''
  if (location.startsWith('/login')) return 'sign in'
  const params = new URL(location).searchParams
  return params.has('code') ? 'code' : (params.get('error') ?? location)
}

const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

async function approve(client: { id: string }, change: Record<string, string> = {}, user = 'ada') {
  const page = await requestAuthorization(server, user, {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
    ...change,
  })
  await submitApprovalDecision(server, user, page)
}

describe('the stored consent of a person to a client', () => {
  it('makes the approval screen unnecessary for the same or fewer scopes', async () => {
    const client = await createClient(server)
    expect(await ask(client)).toBe('screen')
    await approve(client)
    expect(await ask(client)).toBe('code')
    expect(await ask(client, { scope: '' })).toBe('code')
  })

  it('is not enough if more scopes are requested; the new approval then covers all of them', async () => {
    const client = await createClient(server)
    await approve(client)
    expect(await ask(client, { scope: 'place-orders check-status' })).toBe('screen')
    await approve(client, { scope: 'check-status' })
    expect(await ask(client, { scope: 'place-orders check-status' })).toBe('code')
  })

  it('is no longer used as soon as another process has revoked or changed it', async () => {
    const client = await createClient(server)
    await approve(client)
    expect(await ask(client)).toBe('code')
    const consents = server.database.kysely
    const scopes = JSON.stringify(['check-status'])
    await consents
      .updateTable('oauth_consents')
      .set({ scopes })
      .where('client_id', '=', client.id)
      .execute()
    expect(await ask(client)).toBe('screen')
    expect(await ask(client, { scope: 'check-status' })).toBe('code')
    await consents.deleteFrom('oauth_consents').where('client_id', '=', client.id).execute()
    expect(await ask(client, { scope: 'check-status' })).toBe('screen')
  })

  it('applies to one person and one client only', async () => {
    const client = await createClient(server)
    await approve(client)
    expect(await ask(client, {}, 'bob')).toBe('screen')
    expect(await ask(await createClient(server))).toBe('screen')
  })

  it('is not created if the person denies', async () => {
    const client = await createClient(server)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    await submitApprovalDecision(server, 'ada', page, 'deny')
    expect(await ask(client, { scope: '' })).toBe('screen')
  })

  it('is not needed by first-party clients', async () => {
    expect(await ask(await createClient(server, { firstParty: true }))).toBe('code')
  })

  it('is not used for public clients, which need an approval every time', async () => {
    const client = await createClient(server, { confidential: false })
    await approve(client, pkce)
    expect(await ask(client, pkce)).toBe('screen')
    expect(await ask(client, { ...pkce, prompt: 'none' })).toBe('consent_required')
  })

  it('is not needed by a public first-party client with an https redirect URI (threat A12)', async () => {
    const web = await createClient(server, { confidential: false, firstParty: true })
    expect(await ask(web, pkce)).toBe('code')
    const redirect = 'com.example.app:/callback'
    const app = await createClient(server, { confidential: false, firstParty: true, redirect })
    expect(await ask(app, { ...pkce, redirect_uri: redirect })).toBe('screen')
  })

  it('is deleted by DELETE /oauth/tokens/{id}', async () => {
    const client = await createClient(server)
    await runCodeFlow(server, client)
    expect(await ask(client)).toBe('code')
    const tokens = await (await server.json('ada', 'GET', '/oauth/tokens')).json()
    const token = tokens.find((entry: { client_id: string }) => entry.client_id === client.id)
    expect((await server.json('ada', 'DELETE', `/oauth/tokens/${token.id}`)).status).toBe(204)
    expect(await ask(client)).toBe('screen')
  })

  it('is deleted by consents.revoke(), which also revokes the tokens', async () => {
    const client = await createClient(server)
    const { access_token } = await runCodeFlow(server, client)
    expect(await server.oauth.consents.listByUser('ada')).toContainEqual(
      expect.objectContaining({ clientId: client.id, scopes: ['place-orders'] }),
    )
    await server.oauth.consents.revoke('ada', client.id)
    expect(await ask(client)).toBe('screen')
    const credentials = { authorization: `Bearer ${access_token}`, cookie: null, csrfToken: null }
    const attempt = async () => server.oauth.guard.authenticate('api', credentials)
    await expect(attempt()).rejects.toThrow('revoked')
  })

  it('is ignored with prompt=consent', async () => {
    const client = await createClient(server)
    await approve(client)
    expect(await ask(client, { prompt: 'consent' })).toBe('screen')
    const own = await createClient(server, { firstParty: true })
    expect(await ask(own, { prompt: 'consent' })).toBe('screen')
  })

  it('determines the response with prompt=none: a code if it is sufficient, otherwise the error consent_required', async () => {
    const client = await createClient(server)
    const asked = () => ask(client, { prompt: 'none' })
    expect(await expectNoChange(server, asked)).toBe('consent_required')
    await approve(client)
    expect(await asked()).toBe('code')
  })
})
