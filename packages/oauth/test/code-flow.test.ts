import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from './support.ts'

let server: TestServer
beforeEach(async () => {
  server = await startServer()
})
afterEach(() => server.close())

describe('the authorization code flow', () => {
  it('leads from the approval screen to a token that the guard accepts', async () => {
    const client = await createClient(server)
    const tokens = await runCodeFlow(server, client, { scope: 'place-orders' })
    expect(tokens).toMatchObject({
      token_type: 'Bearer',
      scope: 'place-orders',
      expires_in: 31_536_000,
    })
    const user = await server.oauth.guard.authenticate('api', {
      authorization: `Bearer ${tokens.access_token}`,
      cookie: null,
      csrfToken: null,
    })
    expect(user.id).toBe('ada')
    expect(user.tokenCan('place-orders')).toBe(true)
    expect(user.tokenCan('check-status')).toBe(false)
  })

  it('returns the state and no code when the person denies', async () => {
    const client = await createClient(server)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: '',
      state: 'a b&c=ü',
    })
    const answered = await submitApprovalDecision(server, 'ada', page, 'deny')
    expect(answered.origin + answered.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(answered.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a b&c=ü',
      iss: server.url,
    })
    expect(answered.searchParams.has('code')).toBe(false)
  })

  it('returns the same new refresh token if a refresh is repeated within ten seconds', async () => {
    const client = await createClient(server)
    const first = await runCodeFlow(server, client)
    const form = {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    }
    server.clock.advance({ seconds: 5 })
    const second = await server.post('/oauth/token', form)
    expect(second.status).toBe(200)
    const body = await second.json()
    server.clock.advance({ seconds: 5 })
    expect(await (await server.post('/oauth/token', form)).json()).toEqual({
      ...body,
      // The same claims; an ECDSA signature differs each time.
      access_token: expect.stringMatching(`^${body.access_token.replace(/[^.]+$/, '')}`),
      expires_in: body.expires_in - 5,
    })
    const third = await server.post('/oauth/token', { ...form, refresh_token: body.refresh_token })
    expect(third.status).toBe(200)
    // The successor was used meanwhile: two parties hold the refresh token, so the grant ends for
    // both.
    server.clock.advance({ seconds: 1 })
    expect((await server.post('/oauth/token', form)).status).toBe(400)
    const { refresh_token } = await third.json()
    const dead = await server.post('/oauth/token', { ...form, refresh_token })
    expect(await dead.json()).toMatchObject({ error: 'invalid_grant' })
  })
})
