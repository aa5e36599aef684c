import { expect, it } from 'vitest'
import { checkAllowedHosts, isLocalName } from './local-names.ts'

it.each([
  [undefined, true],
  ['127.0.0.1:12111', true],
  ['192.168.1.7', true],
  ['[::1]:12111', true],
  ['localhost:12111', true],
  ['LOCALHOST', true],
  ['sandbox:12111', true],
  ['shop.localhost:12111', true],
  ['host.docker.internal:12111', true],
  ['stripe.test', true],
  ['sandbox.default.svc', true],
  ['sandbox.default.svc.cluster.local', true],
  ['nas.lan', true],
  ['evil.com:12111', false],
  ['evil.com.', false],
  ['127.0.0.1.evil.com', false],
  ['localhost.evil.com:12111', false],
  ['evil-internal.com', false],
  ['7f000001.rbndr.us:12111', false],
])('isLocalName() maps the host %s to %s', (host, isLocal) => {
  expect(isLocalName(host)).toBe(isLocal)
})

it.each([
  ['sandbox.payments:12111', true],
  ['Pay.Example.com', true],
  ['pay.example.com.:443', true],
  ['evil.pay.example.com', false],
  ['example.com', false],
])('isLocalName() with additional allowed names maps the host %s to %s', (host, isAllowed) => {
  expect(isLocalName(host, ['sandbox.payments', 'pay.example.com'])).toBe(isAllowed)
})

it.each(['https://pay.example.com', '*.example.com', 'pay.example.com/', ''])(
  'the `allowedHosts` option rejects %j',
  (name) => {
    expect(() => checkAllowedHosts(['fine.example.com', name])).toThrow(
      'expected a name such as sandbox.example.com',
    )
  },
)
