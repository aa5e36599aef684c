import { describe, expect, it } from 'vitest'
import { createProxyList, findCallerAddress } from './network.ts'

describe('findCallerAddress()', () => {
  const isProxy = createProxyList(['10.0.0.0/8', '127.0.0.1', '2001:db8:aaaa::/48'])

  it.each([
    ['nothing is forwarded', '203.0.113.7', null, '203.0.113.7', 'absent'],
    [
      'a caller that is no trusted proxy sends X-Forwarded-For',
      '203.0.113.7',
      '198.51.100.1',
      '203.0.113.7',
      'absent',
    ],
    ['a proxy of ours forwards', '10.1.2.3', '198.51.100.1', '198.51.100.1', 'used'],
    ['two of ours forward', '10.1.2.3', '198.51.100.1, 10.9.9.9', '198.51.100.1', 'used'],
    ['the client lies to our proxy', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1', 'used'],
    ['all hops are ours', '10.1.2.3', '10.0.0.5', '10.0.0.5', 'used'],
    ['our proxy forwards garbage', '10.1.2.3', 'unknown, <script>', '10.1.2.3', 'missing'],
    ['our proxy forwards a blank', '10.1.2.3', '', '10.1.2.3', 'missing'],
    ['our proxy forwards nothing', '10.1.2.3', null, '10.1.2.3', 'missing'],
    ['a proxy is not configured', '192.168.0.9', '198.51.100.1', '192.168.0.9', 'ignored'],
    ['IPv4 comes through IPv6', '::ffff:127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1', 'used'],
    ['an IPv6 proxy forwards', '2001:db8:aaaa::1', '2001:db8:bbbb::9', '2001:db8:bbbb::9', 'used'],
    ['there is no socket', undefined, '198.51.100.1', '', 'absent'],
  ])("returns the caller's IP address when %s", (_, peer, header, address, forwarded) => {
    expect(findCallerAddress(peer, header, isProxy)).toEqual({ address, forwarded })
  })
})
