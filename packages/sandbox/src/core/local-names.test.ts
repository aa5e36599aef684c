import { expect, it } from 'vitest'
import { isLocalName } from './local-names.ts'

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
  ['evil.com:12111', false],
  ['evil.com.', false],
  ['127.0.0.1.evil.com', false],
  ['localhost.evil.com:12111', false],
  ['evil-internal.com', false],
  ['7f000001.rbndr.us:12111', false],
])('takes %s as a name of this machine: %s', (host, isLocal) => {
  expect(isLocalName(host)).toBe(isLocal)
})
