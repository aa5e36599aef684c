import { describe, expect, it } from 'vitest'
import { clientAddress, createProxyList, networkOf } from './network.ts'

describe('networkOf', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['FE80::1', 'fe80:0:0:0::/64'],
    ['', 'unknown'],
  ])('%s belongs to %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('clientAddress', () => {
  const isProxy = createProxyList(['10.0.0.0/8', '127.0.0.1', '2001:db8:aaaa::/48'])

  it.each([
    ['nobody forwards', '203.0.113.7', null, '203.0.113.7'],
    ['a stranger claims to forward', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['a proxy of ours forwards', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['two of ours forward', '10.1.2.3', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['the client lies to our proxy', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['all are ours', '10.1.2.3', '10.0.0.5', '10.0.0.5'],
    ['garbage is forwarded', '10.1.2.3', 'unknown, <script>', '10.1.2.3'],
    ['IPv4 comes through IPv6', '::ffff:127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['an IPv6 proxy forwards', '2001:db8:aaaa::1', '2001:db8:bbbb::9', '2001:db8:bbbb::9'],
    ['there is no socket', undefined, '198.51.100.1', ''],
  ])('when %s', (_, peer, forwarded, expected) => {
    expect(clientAddress(peer, forwarded, isProxy)).toBe(expected)
  })
})
