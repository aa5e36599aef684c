import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../../oauth/test/adapters/raw-request.ts'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const FORM = 'content-type: application/x-www-form-urlencoded'

let service: TestService
let cookie: string
beforeAll(async () => {
  service = await startTestService()
  await service.users.create({ email: EMAIL, password: PASSWORD })
  const browser = service.browser()
  await browser.post('/login', { email: EMAIL, password: PASSWORD })
  cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
})
afterAll(() => service.stop())

describe('requests with malformed text', () => {
  it.each([
    ['a NUL in an e-mail', '/login', 'email=a%00b%40example.com&password=x'],
    ['a NUL in a password', '/login', 'email=ada%40example.com&password=%00'],
    ['bytes that are not UTF-8', '/login', 'email=%ff%40example.com&password=x'],
    ['half a surrogate pair', '/login', 'email=%ed%a0%80%40example.com&password=x'],
    ['a broken escape', '/register', 'email=%zz&password=long+enough'],
    ['a NUL in a name', '/register', 'email=x%40example.com&password=long+enough&name=%00'],
  ])('are rejected with 400 if a form contains %s', async (_, path, body) => {
    const { status } = await rawRequest(service.url, `POST ${path}`, [FORM], body)
    expect(status).toBe(400)
  })

  it.each([
    '/login?return_to=%00',
    '/login?%00=1',
    '/login?return_to=%ff',
    '/register?return_to=%',
  ])('are rejected with 400: GET %s', async (path) => {
    expect((await rawRequest(service.url, `GET ${path}`)).status).toBe(400)
  })

  it('show no application name on the sign-in page if return_to contains a NUL', async () => {
    const hidden = encodeURIComponent('/oauth/authorize?client_id=%00&response_type=code')
    expect((await rawRequest(service.url, `GET /login?return_to=${hidden}`)).status).toBe(200)
  })

  it.each(['18446744073709551616', '4294967296.1', '1.2.3.256', 'a:99999', '[::1', 'a b', '%'])(
    'are rejected with 400 if the Host header is invalid: %s',
    async (host) => {
      const lines = `GET /login HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
      expect(await statusOf(lines)).toBe(400)
    },
  )
})

describe('unusual values in every field', () => {
  const VALUES = [
    '%00',
    '%ff',
    '%',
    '1e0',
    '0x1',
    '-0',
    '%ef%bc%91',
    '9223372036854775808',
    '18446744073709551616',
    '%f0%9f%94%91',
    '%e2%80%ae',
    '__proto__',
    '%27%3b--',
    'a'.repeat(5000),
  ]
  const GET = [
    '/login?return_to=*',
    '/account?changed=*',
    '/billing?done=*',
    '/billing?provider=*',
    '/billing/swap?plan=*',
    '/billing/confirm?payment=*',
    '/clients?page=*',
    '/applications?x=*',
    '/oauth/authorize?client_id=*',
    '/oauth/authorize?client_id=1&scope=*&redirect_uri=*',
    '/callback?code=*&state=*',
    '/api/subscription?name=*',
    '/oauth/clients/*',
    '/user/invoice/*',
    '/assets/*',
    '/*',
  ]
  const POST = [
    ['/login', 'email=*&password=*&return_to=*'],
    ['/account/password', 'csrf_token=*&current=*&password=*'],
    ['/account/language', 'csrf_token=*&locale=*'],
    ['/applications/revoke', 'csrf_token=*&client=*'],
    ['/billing/subscribe', 'csrf_token=*&plan=*&token=*&provider=*'],
    ['/oauth/token', 'grant_type=password&username=*&password=*&client_id=*'],
    ['/oauth/token', 'grant_type=refresh_token&refresh_token=*&client_id=*'],
    ['/oauth/revoke', 'client_id=*&token=*'],
    ['/oauth/introspect', 'client_id=*&client_secret=*&token=*'],
    ['/logout', 'csrf_token=*'],
    ['/webhooks/stripe', '*'],
  ] as const

  it('never cause a response with status 500 (threat I6)', async () => {
    const faults: string[] = []
    for (const value of VALUES) {
      const fill = (text: string) => text.replaceAll('*', value)
      const headers = [`cookie: ${cookie}`, 'accept: text/html']
      const sent = [
        ...GET.map((path) => ({ line: `GET ${fill(path)}`, headers, body: '' })),
        ...POST.map(([path, body]) => ({
          line: `POST ${path}`,
          headers: [...headers, FORM],
          body: fill(body),
        })),
      ]
      await Promise.all(
        sent.map(async ({ line, headers: given, body }) => {
          const { status } = await rawRequest(service.url, line, given, body)
          if (!(status >= 200 && status < 500))
            faults.push(`${status} ${line} ${body}`.slice(0, 200))
        }),
      )
    }
    expect(faults).toEqual([])
  })
})

async function statusOf(lines: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])))
    socket.write(lines)
  })
}
