import { describe, expect, it } from 'vitest'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
} from '../support.ts'
import { createRandom } from './random.ts'

const FORM = 'application/x-www-form-urlencoded'

describe('randomly altered requests (threat I6)', () => {
  // A database adds little to the parsing of requests, and its statements are slow.
  const usual = process.env.TEST_DATABASE === 'sqlite' ? 20_000 : 5_000
  const count = Number(process.env.FUZZ_REQUESTS ?? usual)
  const seed = Number(process.env.FUZZ_SEED ?? 20_260_101)

  it(`cause no 5xx, no stack trace, no hang and no log entry in ${count} cases`, {
    timeout: 60_000 + count * 20,
  }, async () => {
    const own = await startServer()
    const random = createRandom(seed)
    const grants = [
      'authorization_code',
      'refresh_token',
      'password',
      'client_credentials',
    ] as const
    const app = await createClient(own, { grants: [...grants, 'implicit'] })
    const tokens = await runCodeFlow(own, app)
    const { cookie, csrfToken } = await own.cookieMode('ada')
    const page = await (
      await requestAuthorization(own, 'ada', {
        client_id: app.id,
        response_type: 'code',
        scope: 'check-status',
      })
    ).text()
    const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
    const formToken = /csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? ''

    const paths = own.oauth.paths.map((path) => path.replace('{id}', app.id))
    const values = [
      app.id,
      app.secret,
      tokens.access_token,
      tokens.refresh_token,
      formToken,
      csrfToken,
      REDIRECT,
      'code',
      'token',
      ...grants,
      'place-orders',
      '*',
      'S256',
      'none',
      'approve',
      'ada@example.com',
      '__proto__',
      'constructor',
      '',
      '\0',
      '\ud800',
      '%',
      '%00',
      '🧳',
      '\u202e',
      '-1',
      '1e309',
      'null',
      '[]',
      '{}',
      "'",
      '"',
      '<',
      '\r\n',
      'x'.repeat(300),
      'x'.repeat(9000),
    ]
    const names =
      'client_id client_secret redirect_uri response_type grant_type code refresh_token scope state username password token token_type_hint code_challenge code_challenge_method code_verifier prompt interaction csrf_token decision name redirect scopes confidential implicit __proto__ x'.split(
        ' ',
      )
    const methods = ['GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']
    const types = [
      FORM,
      FORM,
      'application/json',
      'text/plain',
      'multipart/form-data',
      '',
      'x/y; q',
    ]
    const headerNames = [
      'authorization',
      'cookie',
      'x-csrf-token',
      'accept',
      'origin',
      'content-type',
    ]

    function mutate(text: string): string {
      const at = random.below(text.length + 1)
      switch (random.below(7)) {
        case 0:
          return text.slice(0, at)
        case 1:
          return text.slice(0, at) + String.fromCharCode(random.below(0x300)) + text.slice(at)
        case 2:
          return text.slice(0, at) + random.pick(values) + text.slice(at)
        case 3:
          return text.slice(at) + text.slice(0, at)
        case 4:
          return text.slice(0, at) + text.slice(at + 1)
        case 5:
          return text.toUpperCase()
        default:
          return text
      }
    }
    const encodeLoosely = (text: string) => {
      if (random.below(20) === 0) return text.replaceAll('#', '')
      try {
        return encodeURIComponent(text)
      } catch {
        return '%ed%a0%80'
      }
    }
    const value = () => (random.below(3) === 0 ? mutate(random.pick(values)) : random.pick(values))
    const pairs = () =>
      Array.from(
        { length: random.below(9) },
        () => `${encodeLoosely(random.pick(names))}=${encodeLoosely(value())}`,
      ).join('&')
    const jsonBody = () => {
      const fields = Array.from({ length: random.below(5) }, () => {
        const content = random.pick([value(), [value()], null, 7, true, { a: value() }])
        return `${JSON.stringify(random.pick(names))}:${JSON.stringify(content)}`
      })
      const text = `{${fields.join(',')}}`
      return random.below(4) === 0 ? mutate(text) : text
    }
    const header = () =>
      random.pick([
        `Bearer ${value()}`,
        `Basic ${Buffer.from(`${value()}:${value()}`).toString('base64')}`,
        `Basic ${Buffer.from(`${app.id}:${app.secret}`).toString('base64')}`,
        `${cookie}; ${buildSessionCookie('ada')}`,
        buildSessionCookie('ada'),
        `${mutate(cookie)}; ${buildSessionCookie('bob')}`,
        csrfToken,
        'text/html',
        'application/json',
        own.url,
        value(),
      ])

    const basic = { client_id: app.id, client_secret: app.secret }
    const fields = { name: 'x', redirect: REDIRECT }
    const password = { username: 'ada@example.com', password: 'correct horse' }
    const asked = { client_id: app.id, redirect_uri: REDIRECT, response_type: 'code' }
    /** Valid requests to mutate: one that is refused early does not reach deeper code. */
    const good: ReadonlyArray<[method: string, path: string, params: Record<string, unknown>]> = [
      [
        'POST',
        '/oauth/token',
        { ...basic, grant_type: 'client_credentials', scope: 'place-orders' },
      ],
      ['POST', '/oauth/token', { ...basic, grant_type: 'authorization_code', code: 'tgc_x' }],
      ['POST', '/oauth/token', { ...basic, grant_type: 'refresh_token', refresh_token: 'tgr_x' }],
      ['POST', '/oauth/token', { ...basic, grant_type: 'password', ...password }],
      ['POST', '/oauth/revoke', { ...basic, token: 'x' }],
      ['POST', '/oauth/introspect', { ...basic, token: tokens.access_token }],
      ['GET', '/oauth/authorize', { ...asked, scope: 'place-orders', state: 's' }],
      ['GET', '/oauth/authorize', { ...asked, response_type: 'token', prompt: 'consent' }],
      ['POST', action, { csrf_token: formToken, decision: 'deny' }],
      ['POST', '/oauth/clients', { ...fields, confidential: true, implicit: false }],
      ['PUT', `/oauth/clients/${app.id}`, fields],
      ['POST', '/oauth/personal-access-tokens', { name: 'x', scopes: ['place-orders'] }],
      ['POST', '/oauth/token/refresh', {}],
      ['DELETE', '/oauth/tokens/x', {}],
    ]

    function nearlyValidRequest(): Request {
      const [method, path, params] = random.pick(good)
      const changed: Array<[string, unknown]> = Object.entries(params)
      for (let i = random.below(3); i > 0; i -= 1) {
        const at = random.below(changed.length + 1)
        const [name, content] = changed[at] ?? [random.pick(names), '']
        const text = random.below(2) ? value() : mutate(String(content))
        const replaced = random.pick([text, text, text, [content, text], null])
        if (random.below(4) === 0) changed.push([name, replaced])
        else changed[at] = [name, replaced]
      }
      const json = /clients|personal/.test(path) && method !== 'GET'
      const form = changed
        .map(([name, content]) => `${encodeLoosely(name)}=${encodeLoosely(String(content))}`)
        .join('&')
      const session = random.below(10)
        ? buildSessionCookie('ada')
        : mutate(buildSessionCookie('ada'))
      const headers = new Headers({
        cookie: session.replace(/[^ -~]/g, ''),
        'content-type': json ? 'application/json' : FORM,
        accept: random.pick(['text/html', 'application/json', '*/*']),
      })
      if (!/oauth\/(token|revoke|introspect)$/.test(path)) headers.set('x-csrf-token', csrfToken)
      const isGet = method === 'GET'
      const body = json ? JSON.stringify(Object.fromEntries(changed)) : form
      const url = new URL(isGet ? `${path}?${form}` : path, own.url)
      return new Request(url, { method, headers, ...(isGet ? {} : { body }), redirect: 'manual' })
    }

    function mutated(): Request {
      if (random.below(4) > 0) return nearlyValidRequest()
      const method = random.pick(methods)
      const path = random.below(12) === 0 ? mutate(random.pick(paths)) : random.pick(paths)
      const query = random.below(2) === 0 ? `?${pairs()}` : ''
      const target = random.below(15) === 0 ? action : `${path}${query}`
      const headers = new Headers()
      const type = random.pick(types)
      if (type) headers.set('content-type', type)
      if (random.below(2) === 0) {
        headers.set('cookie', `${cookie}; ${buildSessionCookie('ada')}`)
        headers.set('x-csrf-token', csrfToken)
      }
      for (let i = random.below(3); i > 0; i -= 1) {
        try {
          headers.set(random.pick(headerNames), header())
        } catch {
          // a value that no HTTP library would let through either
        }
      }
      const hasBody = !['GET', 'HEAD'].includes(method) && random.below(8) > 0
      const body = type === 'application/json' ? jsonBody() : pairs()
      const url = new URL(own.url)
      try {
        url.href = new URL(target, own.url).href
      } catch {
        url.pathname = '/oauth/token'
      }
      return new Request(url, { method, headers, ...(hasBody ? { body } : {}), redirect: 'manual' })
    }

    const statuses = new Map<number, number>()
    try {
      for (let done = 0; done < count; done += 1) {
        const request = mutated()
        const what = `${done} (seed ${seed}): ${request.method} ${request.url.slice(0, 300)}`
        const reply = await Promise.race([
          own.oauth.fetch(request),
          new Promise<null>((resolve) => setTimeout(resolve, 20_000, null).unref()),
        ])
        if (!reply) throw new Error(`No answer to request ${what}`)
        const text = await reply.text()
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
        if (
          reply.status >= 500 ||
          / {4}at |node:internal|\.ts:\d+|SQLITE|syntax error/i.test(text)
        ) {
          throw new Error(`Request ${what} got ${reply.status}: ${text.slice(0, 500)}`)
        }
        const location = reply.headers.get('location')
        if (
          location &&
          !/^(\/login\?return_to=%2F|https:\/\/app\.example\/callback[?#])/.test(location)
        ) {
          throw new Error(`Request ${what} leads to ${location}`)
        }
      }
      expect(own.logged).toEqual([])
      // Mutations that are all refused early would prove nothing.
      if (count >= 5000) {
        for (const status of [200, 201, 303, 400, 401, 404, 405, 422]) {
          expect(statuses.get(status) ?? 0, `${status} of ${[...statuses]}`).toBeGreaterThan(0)
        }
      }
    } finally {
      await own.close()
    }
  })
})
