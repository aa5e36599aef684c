import { describe, expect, it } from 'vitest'
import {
  findNewRedirectProblem,
  findRedirectProblem,
  joinRedirects,
  matchesRedirect,
  splitRedirects,
} from './redirect-uris.ts'

describe('findRedirectProblem(), which checks a redirect URI,', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example/',
    'https://app.example:8443/a/b?tenant=7',
    'https://app.example/a%20b',
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/',
    'com.example.app:/callback',
    'com.example.app://callback',
    'urn:ietf:wg:oauth:2.0:oob',
    'com.example.app:/callback?from=/../here',
    `https://app.example/${'x'.repeat(1980)}`,
  ])('accepts %s', (uri) => {
    expect(findRedirectProblem(uri)).toBeNull()
  })

  it.each([
    ['', 'absolute'],
    ['callback', 'absolute'],
    ['/callback', 'absolute'],
    ['//app.example/', 'absolute'],
    ['HTTPS://app.example/', 'absolute'],
    [' https://app.example/', 'absolute'],
    ['https://app.example/ x', 'absolute'],
    ['https://app.example/\n', 'absolute'],
    ['https://app.example/\u0000', 'absolute'],
    ['https://app.example\\@evil.example/', 'absolute'],
    ['https://äpp.example/', 'absolute'],
    ['https://app.example/"x', 'absolute'],
    ['https://app.example/<x>', 'absolute'],
    ['https://app.example/#x', 'fragment'],
    ['https://app.example/#', 'fragment'],
    ['javascript:alert(1)', 'javascript'],
    ['data:text/html,x', 'data'],
    ['vbscript:x', 'vbscript'],
    ['file:///etc/passwd', 'file'],
    ['blob:https://app.example/x', 'blob'],
    ['about:blank', 'about'],
    ['view-source:https://app.example/', 'view-source'],
    ['ftp://app.example/cb', 'ftp:'],
    ['mailto:ada@example.com', 'mailto:'],
    ['tel:+15551234', 'tel:'],
    ['sms:+15551234', 'sms:'],
    ['intent://app#Intent;end', 'fragment'],
    ['intent:app', 'intent'],
    ['ws://app.example/', 'ws:'],
    ['wss://app.example/', 'wss:'],
    ['https://user@app.example/', 'user name'],
    ['https://user:pass@app.example/', 'user name'],
    ['https://:pass@app.example/', 'user name'],
    ['https://a;b.example/', 'letters, digits and dots'],
    ['com.example.app:/a/.', 'dot'],
    [`https://app.example/${'x'.repeat(1981)}`, 'longer than 2000'],
    ['https:app.example/', 'host'],
    ['https:///app.example/', 'host|written'],
    ['https://', 'valid|host'],
    ['https://APP.example/', 'written https://app.example/'],
    ['https://app.example:443/', 'written https://app.example/'],
    ['http://0x7f.1/', 'written http://127.0.0.1/'],
    ['https://app.example/a/../b', 'written|dot'],
    ['https://app.example/%2e%2e/b', 'written|dot'],
    ['com.example.app:/a/../b', 'dot'],
    ['https://app.example/?code=1', "'code'"],
    ['https://app.example/?x=1&state=2', "'state'"],
    ['https://app.example/?access%5Ftoken=1', "'access_token'"],
    [`https://app.example/${'a'.repeat(2000)}`, 'longer'],
  ])('rejects %j', (uri, why) => {
    expect(findRedirectProblem(uri)).toMatch(new RegExp(why))
  })
})

describe('findNewRedirectProblem(), which checks a redirect URI that a client adds,', () => {
  const issuer = 'http://login.test:8080'
  it.each([
    'https://app.example/cb',
    'https://app.example/cb?list=1,2',
    'com.example.app:/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:8080/cb',
    'http://[::1]/cb',
    'http://localhost/cb',
    'http://localhost:3000/cb',
    'http://login.test:8080/callback',
  ])('accepts %s', (uri) => {
    expect(findNewRedirectProblem(uri, issuer)).toBeNull()
  })

  it.each([
    ['http://app.example/cb', 'https'],
    ['http://localhost.example/cb', 'https'],
    ['http://127.0.0.1.example/cb', 'https'],
    ['http://127.0.0.2/cb', 'https'],
    ['http://login.test/callback', 'https'],
    ['http://login.test:8080.example/callback', 'valid|https'],
    ['ftp://app.example/cb', 'ftp:'],
    ['mailto:ada@example.com', 'mailto:'],
    ['tel:+15551234', 'tel:'],
    ['javascript:alert(1)', 'javascript'],
    ['https://a.example/cb,https://b.example/cb', 'one by one'],
  ])('rejects %s', (uri, why) => {
    expect(findNewRedirectProblem(uri, issuer)).toMatch(new RegExp(why))
  })

  it('rejects a new redirect URI with plain http, although stored ones stay valid', () => {
    expect(matchesRedirect('http://app.example/cb', 'http://app.example/cb')).toBe(true)
  })
})

describe('splitRedirects(), which reads the redirect URIs stored in one text,', () => {
  it.each([
    ['', []],
    ['https://a.example/cb', ['https://a.example/cb']],
    ['https://a.example/cb?x=1,2', ['https://a.example/cb?x=1,2']],
    ['https://a.example/cb,https://b.example', ['https://a.example/cb', 'https://b.example']],
    ['https://a.example/1,2 , app:/cb', ['https://a.example/1,2', 'app:/cb']],
    ['https://a.example,', ['https://a.example', '']],
    ['https://a.example,,https://b.example', ['https://a.example', '', 'https://b.example']],
  ])('splits %j into %j', (text, uris) => {
    expect(splitRedirects(text)).toEqual(uris)
  })
})

describe('matchesRedirect()', () => {
  it.each([
    ['https://app.example/cb', 'https://app.example/cb'],
    ['https://app.example/cb?x=1', 'https://app.example/cb?x=1'],
    ['com.example.app:/cb', 'com.example.app:/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb'],
    ['http://127.0.0.1:1234/cb', 'http://127.0.0.1:51004/cb'],
    ['http://127.0.0.1:1234/cb', 'http://127.0.0.1/cb'],
    ['http://[::1]/cb', 'http://[::1]:8080/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:65535/cb'],
    ['http://localhost/cb', 'http://localhost:8080/cb'],
    ['http://localhost:3118/cb', 'http://localhost:51004/cb'],
  ])(
    'compares the redirect URI registered as %s with the requested %s, and accepts it',
    (registered, requested) => {
      expect(matchesRedirect(registered, requested)).toBe(true)
    },
  )

  it.each([
    ['https://app.example/cb', 'https://app.example/cb/'],
    ['https://app.example/cb', 'https://app.example/CB'],
    ['https://app.example/cb', 'https://app.example:443/cb'],
    ['https://app.example/cb', 'https://app.example/cb?x=1'],
    ['https://app.example/cb', 'https://app.example/cb#x'],
    ['https://app.example/cb', 'https://app.example/x/../cb'],
    ['https://app.example/cb', 'https://app.example/cb;x'],
    ['https://app.example/cb', 'https://app.example.evil/cb'],
    ['https://app.example/cb?a=1&b=2', 'https://app.example/cb?b=2&a=1'],
    ['https://app.example/cb', 'http://app.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:8080/other'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:0/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:80@evil.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.1:8080/cb'],
    ['http://127.0.0.1/cb', 'http://[::1]/cb'],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb'],
    ['http://localhost/cb', 'http://127.0.0.1/cb'],
    ['http://localhost/cb', 'http://localhost:8080/other'],
    ['http://localhost/cb', 'http://localhost.evil.example/cb'],
    ['http://localhost/cb', 'http://localhost:80@evil.example/cb'],
    ['http://localhost/cb', 'http://LOCALHOST:8080/cb'],
    ['https://localhost/cb', 'https://localhost:8443/cb'],
    ['ftp://app.example/cb', 'ftp://app.example/cb'],
    ['mailto:ada@example.com', 'mailto:ada@example.com'],
    ['https://127.0.0.1/cb', 'https://127.0.0.1:8443/cb'],
    ['https://app.example/cb', 'http://127.0.0.1:8080/cb'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
  ])(
    'compares the redirect URI registered as %s with the requested %s, and refuses it',
    (registered, requested) => {
      expect(matchesRedirect(registered, requested)).toBe(false)
    },
  )
})

describe('splitRedirects() and joinRedirects()', () => {
  it.each([
    ['', []],
    ['https://a.example', ['https://a.example']],
    ['https://a.example,https://b.example', ['https://a.example', 'https://b.example']],
    ['https://a.example , https://b.example', ['https://a.example', 'https://b.example']],
    ['https://a.example,', ['https://a.example', '']],
  ])(
    'are inverse: the stored text %j is split into %j, and joining and splitting it again returns the same list',
    (text, uris) => {
      expect(splitRedirects(text)).toEqual(uris)
      expect(splitRedirects(joinRedirects(uris))).toEqual(uris)
    },
  )
})
