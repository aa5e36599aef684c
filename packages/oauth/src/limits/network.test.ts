import { describe, expect, it } from 'vitest'
import { getNetwork } from './network.ts'

describe('getNetwork(), which returns the network of an IP address for rate limits,', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['FE80::1', 'fe80:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['', 'unknown'],
    ['not an address', 'not an address'],
    [':::::::::::', '0:0:0:0::/64'],
  ])('maps %s to %s', (address, network) => {
    expect(getNetwork(address)).toBe(network)
  })

  it('shortens an invalid address to 64 characters', () => {
    expect(getNetwork('x'.repeat(1000))).toBe('x'.repeat(64))
  })
})
