import { describe, expect, it } from 'vitest'
import type { ServiceContext } from '../context.ts'
import { createLogger, redactText } from '../logger.ts'
import { listRedirectTargets } from '../pages/parts/redirect-targets.ts'
import { isSameOrigin, localPath } from './same-origin.ts'

describe('localPath(), which allows redirects only within this server,', () => {
  it.each([
    ['/clients?page=2', '/clients?page=2'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/a\nb', '/'],
    ['/\tevil', '/'],
    ['', '/'],
    [null, '/'],
    [`/${'x'.repeat(9000)}`, '/'],
  ])('maps the requested path %j to the local path %s', (given, expected) => {
    expect(localPath(given)).toBe(expected)
  })
})

describe('isSameOrigin()', () => {
  const url = 'https://api.example.com'
  it.each([
    ['our own page', { origin: url }, true],
    ['another site', { origin: 'https://evil.example' }, false],
    ['another port', { origin: 'https://api.example.com:8443' }, false],
    ['a sandboxed frame', { origin: 'null' }, false],
    ['a frame on another site', { origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
    ['a neighbour without referrer', { origin: 'null', 'sec-fetch-site': 'same-site' }, false],
    ['our own page without referrer', { origin: 'null', 'sec-fetch-site': 'same-origin' }, true],
    [
      'another site that claims ours',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      false,
    ],
    ['a program', {}, true],
    ['a browser that hides the origin', { 'sec-fetch-site': 'cross-site' }, false],
    ['a neighbouring host', { 'sec-fetch-site': 'same-site' }, false],
    ['our own page without an origin', { 'sec-fetch-site': 'same-origin' }, true],
  ])('returns whether a request is from the same origin: %s', (_, headers, expected) => {
    const request = new Request(url, { method: 'POST', headers: headers as Record<string, string> })
    expect(isSameOrigin(request, url)).toBe(expected)
  })
})

const redirects: Record<string, string[]> = {
  shop: ['https://shop.example/cb'],
  many: ['https://a.example/cb', 'https://b.example/cb'],
}
const find = async (id: string) => (redirects[id] ? { redirectUris: redirects[id] } : null)
const service = { oauth: { clients: { find } } } as unknown as ServiceContext

describe('listRedirectTargets(), which lists the origins that the sign-in form may redirect to,', () => {
  const from = (redirect: string) =>
    listRedirectTargets(`/oauth/authorize?redirect_uri=${encodeURIComponent(redirect)}`, service)
  it.each([
    ['https://shop.example/cb?x=1', ['https://shop.example']],
    ['http://127.0.0.1:4000/cb', ['http://127.0.0.1:4000']],
    ['com.example.app:/cb', ['com.example.app:']],
    ["x; script-src 'unsafe-inline'", []],
  ])('maps the redirect URI %s of an authorization request to %j', async (redirect, expected) => {
    expect(await from(redirect)).toEqual(expected)
  })
  it.each([
    ['shop', ['https://shop.example']],
    ['many', ['https://a.example', 'https://b.example']],
    ['unknown', []],
  ])(
    'returns all origins of the client "%s" if the request names no redirect URI',
    async (client, expected) => {
      expect(await listRedirectTargets(`/oauth/authorize?client_id=${client}`, service)).toEqual(
        expected,
      )
    },
  )
  it('returns nothing if the person does not come from an authorization request', async () => {
    const path = '/clients?redirect_uri=https://evil.example'
    expect(await listRedirectTargets(path, service)).toEqual([])
  })
})

describe('the log', () => {
  it.each([
    ['Authorization: Bearer abc.def.ghi', 'abc.def'],
    ['postgres://app:hunter2@db/app failed', 'hunter2'],
    ['client tgs_1R96RCTj_6NZ3 is wrong', '1R96RCTj'],
    ['grant_type=password&password=hunter2&scope=', 'hunter2'],
    ['POST /cb?code=s3cr3t&state=1', 's3cr3t'],
    ['eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwIn0.abcdef', 'abcdef'],
    ['whsec_0123456789abcdef', '0123456789'],
  ])('redacts the secret in the text: %s', (text, secret) => {
    expect(redactText(text)).not.toContain(secret)
    expect(redactText(text)).toContain('[redacted]')
  })

  it('describes an error with its causes, without their secrets', () => {
    const lines: string[] = []
    const logger = createLogger('info', { write: (line) => void lines.push(line) })
    const cause = new Error('cannot reach postgres://app:hunter2@db/app')
    logger.error({ err: new Error('tgs_1R96RCTj_6NZ3 failed', { cause }) }, 'Bearer abcdefghij')
    const line = lines.join('')
    expect(line).toContain('cannot reach postgres://app:[redacted]@db/app')
    for (const secret of ['hunter2', '1R96RCTj', 'abcdefghij']) expect(line).not.toContain(secret)
  })
})
