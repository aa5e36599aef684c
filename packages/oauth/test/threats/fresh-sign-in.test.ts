import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

let server: TestServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer({ signInUrl: '/login?theme=dark' })
})
beforeEach(async () => {
  server.clock.advance({ seconds: 60 })
  signIn()
  server.clock.advance({ seconds: 60 })
  client = await createClient(server, {
    firstParty: true,
    grants: ['authorization_code', 'implicit'],
  })
})
afterAll(() => server.close())

const SESSION = 'ada.1'

/** Signs in on the application's own page with the correct password. */
function signIn(session = SESSION): void {
  server.users.signIns.set(session, server.clock.now())
}

const visit = (address: string, session: string | null = SESSION) =>
  server.request(address, {
    headers: { accept: 'text/html', ...(session ? { cookie: `session=${session}` } : {}) },
  })

function requestFor(params: Record<string, string>): string {
  const asked = {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    state: 'xyz',
  }
  return `/oauth/authorize?${new URLSearchParams({ ...asked, ...params })}`
}

type Outcome = 'code' | 'token' | 'sign in' | 'screen' | string

/**
 * Classifies a response: a result or an error for the client, the sign-in page, or the approval
 * screen.
 */
function outcomeOf(reply: Response): Outcome {
  if (reply.status === 200) return 'screen'
  const location = new URL(reply.headers.get('location') ?? '', server.url)
  if (location.pathname === '/login') return 'sign in'
  const answered = new URLSearchParams(`${location.search.slice(1)}&${location.hash.slice(1)}`)
  expect(answered.get('state')).toBe('xyz')
  if (answered.has('access_token')) return 'token'
  return answered.has('code') ? 'code' : (answered.get('error') ?? '')
}

function returnAddress(reply: Response): string {
  const location = new URL(reply.headers.get('location') ?? '', server.url)
  expect(location.pathname).toBe('/login')
  return location.searchParams.get('return_to') ?? ''
}

const changed = (address: string, change: (params: URLSearchParams) => void) => {
  const [path, query] = address.split('?')
  const params = new URLSearchParams(query)
  change(params)
  return `${path}?${params}`
}

describe.each([
  ['code', 'code'],
  ['token', 'token'],
])('an authorization request with prompt=login and response_type=%s', (response_type, given) => {
  const ask = (params: Record<string, string> = {}) =>
    visit(requestFor({ prompt: 'login', response_type, ...params }))

  it('rejects a person who returns without a new sign-in', async () => {
    const asked = await ask()
    expect(outcomeOf(asked)).toBe('sign in')
    server.clock.advance({ seconds: 5 })
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe('login_required')
  })

  it('continues after a new sign-in, which the sign-in page is told to require', async () => {
    const asked = await ask()
    const location = new URL(asked.headers.get('location') ?? '', server.url)
    expect(location.searchParams.get('prompt')).toBe('login')
    expect(location.searchParams.get('theme')).toBe('dark')
    server.clock.advance({ seconds: 5 })
    signIn()
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe(given)
  })

  it('does not accept a sign-in at exactly the time of the request', async () => {
    signIn()
    const asked = await ask()
    expect(outcomeOf(asked)).toBe('sign in')
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe('login_required')
  })

  it('cannot be circumvented by removing prompt from the return address', async () => {
    const asked = await ask()
    const back = changed(returnAddress(asked), (params) => params.delete('prompt'))
    expect(outcomeOf(await visit(back))).toBe('login_required')
  })

  it.each([
    ['removed', (params: URLSearchParams) => params.delete('sign_in_asked')],
    ['with another timestamp', (params: URLSearchParams) => backdateMarker(params)],
    ['of another request', (params: URLSearchParams) => params.set('scope', 'check-status')],
    ['forged', (params: URLSearchParams) => params.set('sign_in_asked', '1.x')],
  ])(
    'asks for another sign-in if the `sign_in_asked` parameter in the return address is %s',
    async (_what, change) => {
      const back = changed(returnAddress(await ask()), change)
      server.clock.advance({ seconds: 5 })
      signIn()
      expect(outcomeOf(await visit(back))).toBe('sign in')
    },
  )

  it('asks for another sign-in if the return address is too old', async () => {
    const back = returnAddress(await ask())
    server.clock.advance({ minutes: 61 })
    signIn()
    expect(outcomeOf(await visit(back))).toBe('sign in')
  })

  it('needs one sign-in for two tabs, and no further sign-in after the back button', async () => {
    const [first, second] = [returnAddress(await ask()), returnAddress(await ask({ scope: '' }))]
    server.clock.advance({ seconds: 5 })
    signIn()
    for (const back of [first, second, first]) expect(outcomeOf(await visit(back))).toBe(given)
  })

  it('accepts a sign-in as another person', async () => {
    const asked = await visit(requestFor({ prompt: 'login', response_type }), null)
    server.clock.advance({ seconds: 5 })
    expect(outcomeOf(await visit(returnAddress(asked), null))).toBe('sign in')
    signIn('bob.7')
    expect(outcomeOf(await visit(returnAddress(asked), 'bob.7'))).toBe(given)
  })
})

function backdateMarker(params: URLSearchParams): void {
  const [time, mac] = (params.get('sign_in_asked') ?? '').split('.')
  params.set('sign_in_asked', `${Number(time) - 3_000_000}.${mac}`)
}

describe('a server whose application does not say when people signed in', () => {
  it.each([{ prompt: 'login' }, { prompt: 'select_account' }, { max_age: '9999' }])(
    'returns login_required for the parameters %j, and logs how to fix this',
    async (params) => {
      server.logged.length = 0
      expect(outcomeOf(await visit(requestFor(params as Record<string, string>), 'ada.2'))).toBe(
        'login_required',
      )
      expect(JSON.stringify(server.logged)).toContain('authenticatedAt')
    },
  )

  it('returns login_required even after the person was sent to the sign-in page', async () => {
    const asked = await visit(requestFor({ prompt: 'login' }), null)
    expect(outcomeOf(await visit(returnAddress(asked), 'ada.2'))).toBe('login_required')
  })

  it('returns a code if no parameter requires a recent sign-in', async () => {
    expect(outcomeOf(await visit(requestFor({}), 'ada.2'))).toBe('code')
  })
})

describe('prompt and max_age', () => {
  it('max_age accepts a recent sign-in, and otherwise requires a new one', async () => {
    expect(outcomeOf(await visit(requestFor({ max_age: '60' })))).toBe('code')
    server.clock.advance({ seconds: 1 })
    const asked = await visit(requestFor({ max_age: '60' }))
    expect(outcomeOf(asked)).toBe('sign in')
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe('login_required')
    server.clock.advance({ seconds: 1 })
    signIn()
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe('code')
  })

  it('max_age=0 requires a new sign-in, as prompt=login does', async () => {
    const asked = await visit(requestFor({ max_age: '0' }))
    server.clock.advance({ seconds: 1 })
    signIn()
    expect(outcomeOf(await visit(returnAddress(asked)))).toBe('code')
  })

  it('prompt=none with max_age never shows a page', async () => {
    expect(outcomeOf(await visit(requestFor({ max_age: '9', prompt: 'none' })))).toBe(
      'login_required',
    )
    expect(outcomeOf(await visit(requestFor({ max_age: '90', prompt: 'none' })))).toBe('code')
  })

  it('prompt="login consent" requires a new sign-in and an approval', async () => {
    const asked = await visit(requestFor({ prompt: 'login consent' }))
    server.clock.advance({ seconds: 1 })
    signIn()
    const screen = await visit(returnAddress(asked))
    expect(outcomeOf(screen)).toBe('screen')
    expect((await submitApprovalDecision(server, 'ada', screen)).searchParams.has('code')).toBe(
      true,
    )
  })

  it.each([{ prompt: 'none login' }, { prompt: 'Login' }, { max_age: 'soon' }, { max_age: '-1' }])(
    'the invalid parameters %j return invalid_request',
    async (params) => {
      expect(outcomeOf(await visit(requestFor(params as Record<string, string>)))).toBe(
        'invalid_request',
      )
    },
  )

  it('a session whose sign-in time is a string instead of a Date causes a logged error', async () => {
    server.logged.length = 0
    server.users.signIns.set('ada.9', '2026-01-01' as unknown as Date)
    expect((await visit(requestFor({}), 'ada.9')).status).toBe(500)
    expect(String(server.logged[0])).toContain('authenticatedAt')
  })
})
