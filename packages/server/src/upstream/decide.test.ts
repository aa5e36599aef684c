import { describe, expect, it } from 'vitest'
import { decideSignIn, type IdentifiedPerson } from './decide.ts'

const verified = { email: 'ada@example.com', isEmailVerified: true }
const base: IdentifiedPerson = {
  identity: verified,
  linked: null,
  holder: null,
  linkFor: null,
  registration: true,
}
const linked = { userId: '1', isEnabled: true }

describe('decideSignIn(), the only rule about identities at other providers,', () => {
  it.each<[string, Partial<IdentifiedPerson>, string]>([
    ['a new person with a verified address', {}, 'create'],
    ['a new person, registration off', { registration: false }, 'closed'],
    ['a linked person', { linked }, 'sign-in 1'],
    ['a linked person, registration off', { linked, registration: false }, 'sign-in 1'],
    [
      'a linked person without an address',
      { linked, identity: { email: null, isEmailVerified: false } },
      'sign-in 1',
    ],
    [
      'a linked person whose address belongs to somebody else',
      { linked, holder: { userId: '2' } },
      'sign-in 1',
    ],
    ['a disabled account', { linked: { ...linked, isEnabled: false } }, 'disabled'],
    ['a verified address of an account', { holder: { userId: '2' } }, 'confirm 2'],
    ['the same, registration off', { holder: { userId: '2' }, registration: false }, 'confirm 2'],
    [
      'an unverified address of an account',
      { holder: { userId: '2' }, identity: { ...verified, isEmailVerified: false } },
      'unverified',
    ],
    [
      'an unverified address of nobody',
      { identity: { ...verified, isEmailVerified: false } },
      'unverified',
    ],
    [
      'the same, registration off',
      { identity: { ...verified, isEmailVerified: false }, registration: false },
      'unverified',
    ],
    ['no address', { identity: { email: null, isEmailVerified: true } }, 'unverified'],
    ['a link for a signed-in person', { linkFor: '3' }, 'link 3'],
    [
      'a link with an unverified address',
      { linkFor: '3', identity: { ...verified, isEmailVerified: false } },
      'link 3',
    ],
    [
      'a link with the address of somebody else',
      { linkFor: '3', holder: { userId: '2' } },
      'link 3',
    ],
    ['a link that is there', { linkFor: '1', linked }, 'link 1'],
    ['a link of somebody else', { linkFor: '3', linked }, 'linkedElsewhere'],
    [
      'a link of a disabled account',
      { linkFor: '3', linked: { userId: '2', isEnabled: false } },
      'linkedElsewhere',
    ],
  ])('returns the right decision for %s: %j (threat U4)', (_, change, expected) => {
    const decision = decideSignIn({ ...base, ...change })
    const userId = 'userId' in decision ? ` ${decision.userId}` : ''
    const found = decision.kind === 'refuse' ? decision.because : `${decision.kind}${userId}`
    expect(found).toBe(expected)
  })
})
