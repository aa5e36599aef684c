import { describe, expect, it } from 'vitest'
import { createAddressReader } from './address.ts'

describe("createAddressReader(), which determines a caller's IP address,", () => {
  it.each([
    ['a public address', '93.184.216.34', '93.184.216.34'],
    ['a public address through an IPv6 socket', '::ffff:93.184.216.34', '93.184.216.34'],
    ['a public IPv6 address', '2606:2800:220:1::1', '2606:2800:220:1::1'],
    ['a loopback address, as of a proxy on this machine', '127.0.0.1', undefined],
    ['a private address, as of a proxy in this network', '::ffff:10.0.0.7', undefined],
    ['a text that is no address', 'unknown', undefined],
    ['nothing', undefined, undefined],
  ])("returns the framework's address only if it is public: %s", (_what, said, expected) => {
    expect(createAddressReader({}, {}, () => said)()).toBe(expected)
  })

  it("returns the application's address unchanged", () => {
    const options = { address: (request: { ip: string }) => request.ip }
    expect(createAddressReader(options, { ip: '10.0.0.7' }, () => '93.184.216.34')()).toBe(
      '10.0.0.7',
    )
  })
})
