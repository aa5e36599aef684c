import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildSessionCookie, createClient, REDIRECT, type TestServer } from '../support.ts'
import {
  DEVICE_CODE,
  type Device,
  decide,
  newDevice,
  openPage,
  poll,
  pollError,
  readPageForm,
  send,
  startDevice,
  startDeviceFlow,
  typeCode,
} from './support.ts'

let server: TestServer
let device: Device
beforeEach(async () => {
  server = await startDevice()
  device = await newDevice(server)
})
afterEach(() => server.close())

const errorOf = async (reply: Response) => ((await reply.json()) as { error?: string }).error

const guardStatus = async (accessToken: string) => {
  const headers = { authorization: `Bearer ${accessToken}`, cookie: null, csrfToken: null }
  try {
    await server.oauth.guard.authenticate('api', headers)
    return 200
  } catch (error) {
    return server.oauth.guard.refusal(error).status
  }
}

describe('user codes of the device flow (threat T12)', () => {
  it('can be guessed at most twenty times in fifteen minutes; then even a right code fails', async () => {
    const { user_code } = await startDeviceFlow(server, device)
    for (let tries = 0; tries < 20; tries += 1) {
      expect((await typeCode(server, 'bob', 'BBBB-BBBB')).status).toBe(400)
    }
    const stopped = await typeCode(server, 'bob', user_code)
    expect(stopped.status).toBe(429)
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await stopped.text()).toContain('You have tried too many codes')
    // Other people are not affected, and the limit ends for this person after a while.
    expect((await typeCode(server, 'ada', user_code)).status).toBe(200)
    server.clock.advance({ minutes: 15 })
    const later = await startDeviceFlow(server, device)
    expect((await typeCode(server, 'bob', later.user_code)).status).toBe(200)
  })

  it('share one limit for concurrent guesses in two sessions and two processes', async () => {
    const second = server.another()
    await second.ready()
    const forms = await Promise.all(
      ['bob.1', 'bob.2'].map(async (session) => {
        const headers = { cookie: `session=${session}`, accept: 'text/html' }
        const page = await server.request('/oauth/device', { headers })
        return { session, ...readPageForm(await page.text()) }
      }),
    )
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const { session, csrf_token } = forms[index % 2] ?? { session: '', csrf_token: '' }
        const oauth = index % 4 < 2 ? server.oauth : second
        return oauth.fetch(
          new Request(`${server.url}/oauth/device`, {
            method: 'POST',
            headers: { cookie: `session=${session}`, origin: server.url },
            body: new URLSearchParams({ csrf_token, user_code: 'BBBB-BBBB' }),
          }),
        )
      }),
    )
    const looked = replies.filter(({ status }) => status === 400)
    expect(looked.length).toBeLessThanOrEqual(20)
    expect(replies.every(({ status }) => status === 400 || status === 429)).toBe(true)
  })

  it('can be looked up at most ten times', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    for (let times = 0; times < 10; times += 1) {
      expect((await typeCode(server, 'ada', user_code)).status).toBe(200)
    }
    expect((await typeCode(server, 'bob', user_code)).status).toBe(400)
    expect(await pollError(server, device, device_code)).toBe('authorization_pending')
  })

  it('are useless after they have expired', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const page = await typeCode(server, 'ada', user_code)
    server.clock.advance({ minutes: 10 })
    const late = await send(server, 'ada', readPageForm(await page.text()), { decision: 'approve' })
    expect(late.status).toBe(400)
    expect((await typeCode(server, 'ada', user_code)).status).toBe(400)
    expect(await errorOf(await poll(server, device, device_code))).toBe('expired_token')
  })

  it('are never stored in plain text, and neither are device codes', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const rows = await server.database.kysely.selectFrom('oauth_tickets').selectAll().execute()
    const stored = JSON.stringify(rows)
    for (const secret of [user_code, user_code.replace('-', ''), device_code]) {
      expect(stored).not.toContain(secret)
    }
  })

  it('can be approved or denied only once: a second person who types the code gets an error', async () => {
    const { user_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    expect((await typeCode(server, 'bob', user_code)).status).toBe(400)
  })
})

describe('the device page (threat T12)', () => {
  it('ignores a form from another site, and a form without the CSRF token of the page', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const entry = readPageForm(await (await openPage(server, 'ada')).text())
    const cookie = buildSessionCookie('ada')
    const typed = { csrf_token: entry.csrf_token, user_code }
    const foreign = { cookie, origin: 'https://evil.example' }
    expect((await server.post('/oauth/device', typed, foreign)).status).toBe(403)
    const own = { cookie, origin: server.url }
    expect((await server.post('/oauth/device', { user_code }, own)).status).toBe(403)
    const question = readPageForm(await (await typeCode(server, 'ada', user_code)).text())
    const approval = { csrf_token: question.csrf_token, decision: 'approve' }
    expect((await server.post(question.action, approval, foreign)).status).toBe(403)
    expect((await server.post(question.action, { decision: 'approve' }, own)).status).toBe(403)
    expect(await pollError(server, device, device_code)).toBe('authorization_pending')
  })

  it('accepts a decision only from the person and the session that saw the page', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const question = readPageForm(await (await typeCode(server, 'ada', user_code)).text())
    expect((await send(server, 'bob', question, { decision: 'approve' })).status).toBe(400)
    const headers = { cookie: 'session=ada.2', origin: server.url }
    const elsewhere = { csrf_token: question.csrf_token, decision: 'approve' }
    expect((await server.post(question.action, elsewhere, headers)).status).toBe(400)
    const nobody = { origin: server.url, accept: 'text/html' }
    expect((await server.post(question.action, elsewhere, nobody)).status).toBe(401)
    expect(await pollError(server, device, device_code)).toBe('authorization_pending')
  })

  it('rejects the form of the approval screen, and the approval screen rejects the form of the device page', async () => {
    const web = await newDevice(server, {
      grants: [DEVICE_CODE, 'authorization_code'],
      redirect: REDIRECT,
      confidential: true,
    })
    const { user_code } = await startDeviceFlow(server, web)
    const question = readPageForm(await (await typeCode(server, 'ada', user_code)).text())
    const there = { ...question, action: question.action.replace('/device?', '/authorize?') }
    expect((await send(server, 'ada', there, { decision: 'approve' })).status).toBe(400)
    const query = { client_id: web.id, response_type: 'code', redirect_uri: REDIRECT }
    const screen = await server.request(`/oauth/authorize?${new URLSearchParams(query)}`, {
      headers: { cookie: buildSessionCookie('ada'), accept: 'text/html' },
    })
    const consent = readPageForm(await screen.text())
    const here = { ...consent, action: consent.action.replace('/authorize?', '/device?') }
    expect((await send(server, 'ada', here, { decision: 'approve' })).status).toBe(400)
  })

  it('accepts the first decision if two tabs decide, and shows an error in the other tab', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const tabs = [
      await typeCode(server, 'ada', user_code),
      await typeCode(server, 'ada', user_code),
    ]
    const [one = '', other = ''] = await Promise.all(tabs.map((tab) => tab.text()))
    expect((await send(server, 'ada', readPageForm(one), { decision: 'deny' })).status).toBe(200)
    const late = await send(server, 'ada', readPageForm(other), { decision: 'approve' })
    expect(late.status).toBe(400)
    expect(await late.text()).toContain('already been answered')
    expect(await pollError(server, device, device_code)).toBe('access_denied')
    // A denied scope is not stored as approved.
    expect(await server.oauth.consents.listByUser('ada')).toEqual([])
  })

  it('accepts only one of a concurrent approval and denial, and the device receives the accepted decision', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { user_code, device_code } = await startDeviceFlow(server, device)
      const pages = await Promise.all([0, 1].map(() => typeCode(server, 'ada', user_code)))
      const forms = (await Promise.all(pages.map((page) => page.text()))).map(readPageForm)
      const replies = await Promise.all(
        forms.map((form, index) =>
          send(server, 'ada', form, { decision: index ? 'deny' : 'approve' }),
        ),
      )
      const won = replies.findIndex(({ status }) => status === 200)
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400])
      const error = await pollError(server, device, device_code)
      expect(error).toBe(won === 0 ? null : 'access_denied')
    }
  })
})

describe('polling a device code (threat T12)', () => {
  it('tells a device that polls too often to wait five seconds longer each time', async () => {
    const { device_code } = await startDeviceFlow(server, device)
    const ask = async () => errorOf(await poll(server, device, device_code))
    expect(await ask()).toBe('authorization_pending')
    expect(await ask()).toBe('slow_down')
    server.clock.advance({ seconds: 5 })
    expect(await ask()).toBe('slow_down')
    server.clock.advance({ seconds: 14 })
    expect(await ask()).toBe('slow_down')
    server.clock.advance({ seconds: 20 })
    expect(await ask()).toBe('authorization_pending')
  })

  it('issues one valid token for many concurrent polls on two processes', async () => {
    const second = server.another()
    await second.ready()
    const { user_code, device_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    server.clock.advance({ seconds: 5 })
    const form = { grant_type: DEVICE_CODE, client_id: device.id, device_code }
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        (index % 2 ? server.oauth : second).fetch(
          new Request(`${server.url}/oauth/token`, {
            method: 'POST',
            body: new URLSearchParams(form),
          }),
        ),
      ),
    )
    const bodies = (await Promise.all(replies.map((reply) => reply.json()))) as {
      access_token?: string
      error?: string
    }[]
    const won = bodies.filter(({ access_token }) => access_token)
    expect(won).toHaveLength(1)
    for (const { error } of bodies.filter((body) => body !== won[0])) {
      expect(error).toBe('slow_down')
    }
    expect(await guardStatus(won[0]?.access_token ?? '')).toBe(200)
  })

  it('issues nothing for a used device code, and revokes the tokens issued for it', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    server.clock.advance({ seconds: 5 })
    const first = (await (await poll(server, device, device_code)).json()) as {
      access_token: string
      refresh_token: string
    }
    expect(await guardStatus(first.access_token)).toBe(200)
    expect(await pollError(server, device, device_code)).toBe('invalid_grant')
    expect(await guardStatus(first.access_token)).toBe(401)
    const refresh = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      client_id: device.id,
      refresh_token: first.refresh_token,
    })
    expect(await errorOf(refresh)).toBe('invalid_grant')
  })

  it('rejects a device code of another client, and the code stays valid for that client', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    const other = await newDevice(server)
    expect(await errorOf(await poll(server, other, device_code))).toBe('invalid_grant')
    expect(await pollError(server, device, device_code)).toBeNull()
  })

  it.each([
    ['unknown', 'tgd_unknown'],
    ['5000 characters', 'x'.repeat(5000)],
  ])('rejects an invalid device code: %s', async (_what, text) => {
    expect(await errorOf(await poll(server, device, text))).toBe('invalid_grant')
  })

  it('rejects a device code where an authorization code is expected', async () => {
    const web = await newDevice(server, {
      grants: [DEVICE_CODE, 'authorization_code'],
      redirect: REDIRECT,
      confidential: true,
    })
    const { user_code, device_code } = await startDeviceFlow(server, web)
    await decide(server, 'ada', user_code)
    const reply = await server.post('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: web.id,
      client_secret: web.secret,
      code: device_code,
    })
    expect(await errorOf(reply)).toBe('invalid_grant')
  })
})

describe('between the approval of a device and the next poll (threat T12),', () => {
  async function approved(): Promise<string> {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    return device_code
  }

  it.each<[string, () => unknown, string]>([
    ['signing out everywhere', () => server.oauth.revokeUser('ada'), 'expired_token'],
    ['deleting the account', () => server.users.all.delete('ada'), 'expired_token'],
    ['revoking the client', () => server.oauth.clients.revoke(device.id), 'invalid_client'],
    [
      'revoking the approval',
      () => server.oauth.consents.revoke('ada', device.id),
      'expired_token',
    ],
    ['calling endEverything()', () => server.oauth.endEverything(), 'invalid_grant'],
    ['letting ten minutes pass', () => server.clock.advance({ minutes: 10 }), 'expired_token'],
  ])('%s prevents the token', async (_what, end, error) => {
    const code = await approved()
    await end()
    expect(await pollError(server, device, code)).toBe(error)
    const tokens = await server.database.kysely.selectFrom('oauth_tokens').selectAll().execute()
    expect(tokens).toEqual([])
  })

  it('signing out everywhere in another process prevents the token', async () => {
    const another = server.another()
    const code = await approved()
    await another.revokeUser('ada')
    expect(await pollError(server, device, code)).toBe('expired_token')
  })

  it('an approval has no effect if the person is signed out everywhere at the same time', async () => {
    const { user_code, device_code } = await startDeviceFlow(server, device)
    const question = readPageForm(await (await typeCode(server, 'ada', user_code)).text())
    await server.oauth.revokeUser('ada')
    expect((await send(server, 'ada', question, { decision: 'approve' })).status).toBe(400)
    expect(await pollError(server, device, device_code)).toBe('authorization_pending')
  })
})

it('the device page shows no request of a deleted client', async () => {
  const gone = await createClient(server, {
    grants: [DEVICE_CODE],
    confidential: false,
  })
  const { user_code } = await startDeviceFlow(server, gone)
  await server.oauth.clients.revoke(gone.id)
  expect((await typeCode(server, 'ada', user_code)).status).toBe(400)
})
