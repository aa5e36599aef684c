import { describe, expect, it } from 'vitest'
import { isPublicAddress, parseAddresses } from './addresses.ts'

describe('isPublicAddress()', () => {
  it.each([
    '127.0.0.1',
    '127.8.9.10',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'no address',
  ])('returns false for %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])(
    'returns true for %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )
})

describe('parseAddresses()', () => {
  it('accepts addresses and networks of IPv4 and IPv6', () => {
    const list = parseAddresses('option', ['10.0.0.0/8', '127.0.0.1', 'fc00::/7'])
    expect(list.check('10.9.8.7', 'ipv4')).toBe(true)
    expect(list.check('127.0.0.2', 'ipv4')).toBe(false)
    expect(list.check('fd00::1', 'ipv6')).toBe(true)
  })

  it.each(['localhost', '10.0.0.0/33', '10.0.0.0/8/8', 'fc00::/129', ''])('rejects %s', (text) => {
    expect(() => parseAddresses('option', [text])).toThrow(
      `option: '${text}' should be an IP address`,
    )
  })
})
