import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

/** Changes the row by hand, as a faulty restore could. */
async function set(id: string, values: Record<string, string | null>): Promise<void> {
  const { kysely } = server.database
  await kysely.updateTable('oauth_clients').set(values).where('id', '=', id).execute()
}

/** Posts a form to a process that reads the row for the first time. */
async function post(path: string, form: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(form)
  return server.another().fetch(new Request(`${server.url}${path}`, { method: 'POST', body }))
}

describe('a confidential client whose stored secret hash was lost from the database', () => {
  it.each([
    ['null', null],
    ['empty', ''],
  ])('cannot authenticate until it has a new secret (hash: %s)', async (_, secret_hash) => {
    const { client, secret } = await server.oauth.clients.create({
      name: 'Shop',
      redirect: REDIRECT,
      grants: ['password', 'refresh_token', 'client_credentials'],
    })
    await set(client.id, { secret_hash })
    const user = { username: 'ada@example.com', password: 'correct horse' }
    const grant = { grant_type: 'password', client_id: client.id, ...user }
    for (const client_secret of [undefined, '', secret ?? '', 'anything']) {
      const sent = client_secret === undefined ? {} : { client_secret }
      expect((await post('/oauth/token', { ...grant, ...sent })).status).toBe(401)
      const revocation = { client_id: client.id, token: 'x', ...sent }
      expect((await post('/oauth/revoke', revocation)).status).toBe(401)
    }
    const found = await server.oauth.clients.find(client.id)
    expect(found?.confidential).toBe(true)
    const rotated = await server.oauth.clients.rotateSecret(client.id)
    const right = await post('/oauth/token', { ...grant, client_secret: rotated.secret ?? '' })
    expect(right.status).toBe(200)
  })
})

it('a client whose scope list was lost from the database gets no scope', async () => {
  const { client, secret } = await server.oauth.clients.create({
    name: 'Shop',
    grants: ['client_credentials'],
    scopes: ['check-status'],
  })
  await set(client.id, { scopes: null })
  const grant = { grant_type: 'client_credentials', client_id: client.id }
  const form = { ...grant, client_secret: secret ?? '', scope: 'place-orders' }
  const response = await post('/oauth/token', form)
  expect(await response.json()).toMatchObject({ error: 'invalid_scope' })
})

it('an authorization code of a public client is refused if its PKCE challenge was lost from the database', async () => {
  const { id } = await createClient(server, { confidential: false })
  const page = await requestAuthorization(server, 'ada', {
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })
  const code = (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
  const { kysely } = server.database
  await kysely.updateTable('oauth_authorization_codes').set({ code_challenge: null }).execute()
  const grant = { grant_type: 'authorization_code', client_id: id, redirect_uri: REDIRECT, code }
  const response = await post('/oauth/token', grant)
  expect(await response.json()).toMatchObject({ error: 'invalid_grant' })
})
