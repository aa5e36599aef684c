import { expect, it } from 'vitest'
import { isSameOriginPost } from './same-origin-post.ts'

const host = '127.0.0.1:12111'

it.each([
  ['a program', { host }, true],
  ['its own page', { host, origin: `http://${host}` }, true],
  ['its own page, over TLS', { host: 'pay.test', origin: 'https://pay.test' }, true],
  ['its own page, without an origin', { host, 'sec-fetch-site': 'same-origin' }, true],
  ['a page behind an allowed proxy', { host, origin: 'https://pay.example.com' }, true],
  ['another site', { host, origin: 'https://evil.example' }, false],
  ['another port', { host, origin: 'http://127.0.0.1:3000' }, false],
  ['another host name of this server', { host, origin: 'http://localhost:12111' }, false],
  ['a page without an origin', { host, origin: 'null' }, false],
  ['another site, without an origin', { host, 'sec-fetch-site': 'cross-site' }, false],
  [
    'another host of the same site, without an origin',
    { host, 'sec-fetch-site': 'same-site' },
    false,
  ],
])(
  "isSameOriginPost() tells forms of the server's own pages from forms of other sites: %s",
  (_who, headers, isOwn) => {
    expect(isSameOriginPost(headers, ['pay.example.com'])).toBe(isOwn)
  },
)

it.each([
  ['https://pay.example.com', ['pay.example.com:443'], true],
  ['http://pay.example.com', ['pay.example.com:80'], true],
  ['http://pay.example.com', ['pay.example.com:443'], false],
  ['https://pay.example.com:8443', ['pay.example.com:8443'], true],
  ['https://pay.example.com:9000', ['pay.example.com:8443'], false],
  ['https://pay.example.com', ['pay.example.com:8443'], false],
  ['https://pay.example.com:9000', ['pay.example.com'], true],
  ['https://pay.example.com:9000', ['pay.example.com:8443', 'pay.example.com:9000'], true],
])(
  'isSameOriginPost() compares the port too if an entry of `allowedHosts` has a port: %s with allowedHosts %j',
  (origin, allowed, isOwn) => {
    expect(isSameOriginPost({ host, origin }, allowed)).toBe(isOwn)
  },
)
