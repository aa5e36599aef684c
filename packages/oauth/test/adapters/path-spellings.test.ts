import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../support.ts'
import { type App, frameworks } from './frameworks.ts'
import { rawRequest } from './raw-request.ts'

type Spelling = readonly [name: string, spell: (path: string) => string]

/** Spellings that one server, proxy or router takes for the path and another does not. */
const SPELLINGS: readonly Spelling[] = [
  ['a trailing slash', (path) => `${path}/`],
  ['two trailing slashes', (path) => `${path}//`],
  ['capitals', (path) => path.toUpperCase()],
  ['a capital at the end', (path) => path.slice(0, -1) + path.slice(-1).toUpperCase()],
  ['an encoded letter', (path) => path.slice(0, -1) + encodeLetter(path.slice(-1))],
  ['an encoded first letter', (path) => `/${encodeLetter(path.slice(1, 2))}${path.slice(2)}`],
  ['a letter encoded twice', (path) => path.slice(0, -1) + doubly(path.slice(-1))],
  ['a doubled first slash', (path) => `/${path}`],
  ['a doubled last slash', (path) => path.replace(/\/(?=[^/]*$)/, '//')],
  ['an encoded slash at the end', (path) => `${path}%2f`],
  ['an encoded last slash', (path) => `/x/..${path.replace(/\/(?=[^/]*$)/, '%2F')}`],
  ['a backslash', (path) => path.replace(/\/(?=[^/]*$)/, '\\')],
  ['a path parameter', (path) => `${path};a=b`],
  ['an encoded NUL', (path) => `${path}%00`],
  ['an encoded question mark', (path) => `${path}%3f`],
  ['a broken escape', (path) => `${path}%zz`],
  ['an overlong encoding', (path) => path.replace(/\/(?=[^/]*$)/, '%c0%af')],
  ['a fragment', (path) => `${path}#x`],
]

/** Dot segments, which Web-standard URLs resolve first, so they lead to the same address. */
const DOT_SEGMENTS: readonly Spelling[] = [
  ['a dot segment', (path) => path.replace(/\/(?=[^/]*$)/, '/./')],
  ['an encoded dot segment', (path) => path.replace(/\/(?=[^/]*$)/, '/%2e/')],
  ['a parent segment', (path) => `/open/..${path}`],
  ['an encoded parent segment', (path) => `/open/%2e%2e${path}`],
]

function encodeLetter(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`
}

function doubly(letter: string): string {
  return `%25${letter.charCodeAt(0).toString(16)}`
}

describe.each(frameworks.filter(({ overHttp }) => overHttp))(
  'unusual spellings of a path in $name',
  (framework) => {
    let app: App
    let form: string
    beforeAll(async () => {
      app = await framework.start()
      const { id, secret } = await createClient(app, { grants: ['client_credentials'] })
      form = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`
    })
    afterAll(() => app.close())

    const toToken = (target: string) =>
      rawRequest(
        app.url,
        `POST ${target}`,
        ['content-type: application/x-www-form-urlencoded'],
        form,
      )

    it.each([...SPELLINGS, ...DOT_SEGMENTS])(
      '%s never reaches a guarded handler without a token',
      async (_name, spell) => {
        for (const path of ['/orders', '/me', '/machine', '/guarded/report']) {
          const { status } = await rawRequest(app.url, `GET ${spell(path)}`)
          expect([400, 401, 404]).toContain(status)
        }
        expect(app.reached).toEqual([])
      },
    )

    it('an absolute URL as the request target never reaches a guarded handler without a token', async () => {
      for (const path of ['/orders', '/guarded/report']) {
        const { status } = await rawRequest(app.url, `GET ${app.url}${path}`)
        expect([400, 401, 404]).toContain(status)
      }
      expect(app.reached).toEqual([])
    })

    it.each(SPELLINGS)('%s does not reach the token endpoint', async (_name, spell) => {
      const reply = await toToken(spell('/oauth/token'))
      expect(reply.text).not.toContain('access_token')
      expect([400, 404]).toContain(reply.status)
    })

    it.each(DOT_SEGMENTS)(
      '%s reaches the token endpoint only in frameworks that resolve such paths',
      async (_name, spell) => {
        const reply = await toToken(spell('/oauth/token'))
        expect(reply.status).toBe(framework.name === 'Hono' ? 200 : 404)
      },
    )

    it('the exact path reaches the token endpoint', async () => {
      const reply = await toToken('/oauth/token')
      expect(reply.status).toBe(200)
      expect(reply.text).toContain('access_token')
    })

    it.each(['.', '..', '%2e%2e', 'a%2fb', 'a.b', 'ü', '%00', 'a'.repeat(65)])(
      '%j is not accepted as a client id',
      async (id) => {
        const path = `/oauth/clients/${id}`
        const { status } = await rawRequest(app.url, `DELETE ${encodeNonAscii(path)}`)
        expect([400, 404, 405]).toContain(status)
      },
    )
  },
)

function encodeNonAscii(text: string): string {
  return text.replace(/[^ -~]/g, encodeURIComponent)
}

describe('unusual spellings of a path in Next', () => {
  it.each([
    '/oauth/token/',
    '/oauth/TOKEN',
    '/oauth/%74oken',
    '/oauth//token',
    '/oauth%2ftoken',
    '/oauth/token%2f',
    '/oauth/token;a=b',
  ])(
    '%s, which the catch-all route passes to the handlers, does not reach the token endpoint',
    async (path) => {
      const next = frameworks.find(({ overHttp }) => !overHttp)
      const app = await next?.start()
      if (!app) throw new Error('There is no framework without HTTP')
      const { id, secret } = await createClient(app, { grants: ['client_credentials'] })
      const reply = await app.fetch(path, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: id,
          client_secret: secret,
        }),
      })
      expect(reply.status).toBe(404)
      await app.close()
    },
  )
})
