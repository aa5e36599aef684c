import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import { countRows, expectNoChange } from './rows.ts'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer()
})
beforeEach(async () => {
  client = await createClient(server)
})
afterAll(() => server.close())

interface Screen {
  readonly action: string
  readonly csrfToken: string
}

async function openScreen(change: Record<string, string> = {}): Promise<Screen> {
  const page = await requestAuthorization(server, 'ada', {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
    ...change,
  })
  const html = await page.text()
  return {
    action: /action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '',
    csrfToken: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
  }
}

/** Presses Approve, with changed headers or fields if given. */
function approve(
  screen: Screen,
  headers: Record<string, string> = {},
  form: Record<string, string> = {},
): Promise<Response> {
  return server.post(
    screen.action,
    { csrf_token: screen.csrfToken, decision: 'approve', ...form },
    { cookie: 'session=ada.1', origin: server.url, ...headers },
  )
}

describe('POST /oauth/authorize', () => {
  it('keeps apart the approval requests of two tabs', async () => {
    const first = await openScreen({ state: 'first', scope: 'place-orders' })
    const second = await openScreen({ state: 'second', scope: 'check-status' })
    expect(first.action).not.toBe(second.action)
    for (const [screen, state] of [
      [second, 'second'],
      [first, 'first'],
    ] as const) {
      const reply = await approve(screen)
      const answered = new URL(reply.headers.get('location') ?? '')
      expect(answered.searchParams.get('state')).toBe(state)
    }
  })

  it('issues one code when a request is approved twice (threat G8)', async () => {
    const screen = await openScreen()
    const before = await countRows(server, 'oauth_authorization_codes')
    const replies = await Promise.all([approve(screen), approve(screen), approve(screen)])
    expect(replies.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 400)).toHaveLength(2)
    expect(await countRows(server, 'oauth_authorization_codes')).toBe(before + 1)
    const late = await expectNoChange(server, () => approve(screen))
    expect(late.status).toBe(400)
    expect(await late.text()).toContain('already been answered')
  })

  it('refuses to approve a request that was denied (threat G8)', async () => {
    const screen = await openScreen()
    expect((await approve(screen, {}, { decision: 'deny' })).status).toBe(303)
    expect((await expectNoChange(server, () => approve(screen))).status).toBe(400)
  })

  it.each([
    ['another user', { cookie: 'session=bob.1' }, 400],
    ['another session of the same user', { cookie: 'session=ada.2' }, 400],
    ['a visitor without a session', { cookie: 'nothing=1' }, 401],
    ['a page on another site', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a sibling site', { origin: 'http://localhost:5000' }, 403],
  ])(
    'refuses a decision whose request comes from %s (threat G8)',
    async (_who, headers, status) => {
      const screen = await openScreen()
      const reply = await expectNoChange(server, () => approve(screen, headers))
      expect(reply.status).toBe(status)
      expect(reply.headers.get('location')).toBeNull()
      expect((await approve(screen)).status).toBe(303)
    },
  )

  it('recognizes a cross-site request by its Sec-Fetch headers if it has no Origin header (threat G8)', async () => {
    const screen = await openScreen()
    const form = { csrf_token: screen.csrfToken }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { cookie: 'session=ada.1', 'sec-fetch-site': site }
      const reply = await expectNoChange(server, () => server.post(screen.action, form, headers))
      expect(reply.status).toBe(403)
    }
  })

  it.each([
    ['no CSRF token', { csrf_token: '' }, 403],
    ['a wrong CSRF token', { csrf_token: 'x'.repeat(43) }, 403],
    ['an unknown decision', { decision: 'constructor' }, 400],
  ])('refuses a decision with %s (threat G8)', async (_what, form, status) => {
    const screen = await openScreen()
    const reply = await expectNoChange(server, () => approve(screen, {}, form))
    expect(reply.status).toBe(status)
  })

  it('refuses the CSRF token of another browser tab (threat G8)', async () => {
    const [first, second] = [await openScreen(), await openScreen()]
    const mixed = { ...first, csrfToken: second.csrfToken }
    expect((await expectNoChange(server, () => approve(mixed))).status).toBe(403)
  })

  it('refuses a decision ten minutes after the approval screen was shown', async () => {
    const screen = await openScreen()
    server.clock.advance({ minutes: 10 })
    expect((await expectNoChange(server, () => approve(screen))).status).toBe(400)
  })

  it('issues no code if the client was deleted while the approval screen was open (threat A1)', async () => {
    const screen = await openScreen()
    await server.oauth.clients.revoke(client.id)
    expect((await expectNoChange(server, () => approve(screen))).status).toBe(400)
  })

  it('issues no code if the redirect URI was removed while the approval screen was open (threat A2)', async () => {
    const screen = await openScreen()
    const redirect = 'https://new.example/callback'
    await server.oauth.clients.update(client.id, { name: 'Moved', redirect })
    const reply = await expectNoChange(server, () => approve(screen))
    expect(reply.status).toBe(400)
    expect(reply.headers.get('location')).toBeNull()
  })

  it.each([
    ['has expired', () => server.clock.advance({ hours: 1 }), {}],
    ['was shown to another person', () => {}, { cookie: 'session=bob.1' }],
    ['was shown before a new sign-in', () => {}, { cookie: 'session=ada.2' }],
    ['was shown before the sign-out', () => {}, { cookie: 'nothing=1' }],
  ])(
    'links to a new approval screen if the decision was made on a screen that %s',
    async (_what, happen, headers) => {
      const screen = await openScreen({ state: '"><b>&', interaction: 'not ours' })
      happen()
      const html = await (await approve(screen, headers)).text()
      const again = /<a href="([^"]+)">Try again/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
      expect(again).toMatch(/^\/oauth\/authorize\?client_id=/)
      const page = await requestAuthorization(
        server,
        'ada',
        Object.fromEntries(new URL(again, server.url).searchParams),
      )
      const answered = await submitApprovalDecision(server, 'ada', page)
      expect(answered.searchParams.get('state')).toBe('"><b>&')
    },
  )

  it('refuses a second decision on the same approval screen', async () => {
    const screen = await openScreen()
    await approve(screen)
    expect(await (await approve(screen)).text()).not.toContain('Try again')
  })

  it('shows a page with the status 400 if the interaction id is unknown or missing', async () => {
    const { csrfToken } = await openScreen()
    for (const action of ['/oauth/authorize', '/oauth/authorize?interaction=nope']) {
      const reply = await expectNoChange(server, () => approve({ action, csrfToken }))
      expect(reply.status).toBe(400)
      expect(reply.headers.get('content-type')).toContain('text/html')
    }
  })

  it('keeps at most 50 pending approval screens of one person, and deletes the oldest first (threat L3)', async () => {
    const oldest = await openScreen()
    for (let tab = 0; tab < 50; tab += 1) {
      server.clock.advance({ seconds: 1 })
      await openScreen()
    }
    expect((await approve(oldest)).status).toBe(400)
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    expect((await submitApprovalDecision(server, 'ada', page)).searchParams.has('code')).toBe(true)
  })
})

describe('DELETE /oauth/authorize', () => {
  it('denies the request', async () => {
    const screen = await openScreen({ state: 'xyz' })
    const deny = (headers: Record<string, string>) =>
      server.request(screen.action, {
        method: 'DELETE',
        headers: { cookie: 'session=ada.1', origin: server.url, ...headers },
      })
    expect((await expectNoChange(server, () => deny({}))).status).toBe(403)
    const reply = await deny({ 'x-csrf-token': screen.csrfToken })
    expect(reply.status).toBe(303)
    const answered = new URL(reply.headers.get('location') ?? '')
    expect(answered.searchParams.get('error')).toBe('access_denied')
    expect(answered.searchParams.get('state')).toBe('xyz')
  })
})
