import { expect, it } from 'vitest'
import {
  buildSessionCookie,
  REDIRECT,
  startServer,
  submitApprovalDecision,
  type TestUser,
} from './support.ts'

const ada: TestUser = { id: 'ada', email: 'ada@example.com', password: 'correct horse' }

it('a server accepts user functions that return their results synchronously', async () => {
  const server = await startServer({
    users: {
      findById: (id) => (id === ada.id ? ada : null),
      findByCredentials: (email, secret) =>
        email === ada.email && secret === ada.password ? ada : null,
      fromRequest: (request) =>
        request.headers.get('cookie') === buildSessionCookie('ada')
          ? { id: ada.id, sessionId: 'session' }
          : null,
    },
  })
  const { client, secret } = await server.oauth.clients.create({
    name: 'An application',
    redirect: REDIRECT,
    grants: ['password', 'authorization_code', 'refresh_token'],
  })
  const credentials = { client_id: client.id, client_secret: secret ?? '' }
  const given = await server.post('/oauth/token', {
    ...credentials,
    grant_type: 'password',
    username: ada.email,
    password: ada.password,
  })
  const { refresh_token } = await given.json()
  const refreshed = await server.post('/oauth/token', {
    ...credentials,
    grant_type: 'refresh_token',
    refresh_token,
  })
  expect(refreshed.status).toBe(200)

  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: REDIRECT,
  })
  const page = await server.request(`/oauth/authorize?${query}`, {
    headers: { cookie: buildSessionCookie('ada') },
  })
  expect((await submitApprovalDecision(server, 'ada', page)).searchParams.get('code')).toBeTruthy()
  await server.close()
})
