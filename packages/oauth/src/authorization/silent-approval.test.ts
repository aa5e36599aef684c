import { describe, expect, it } from 'vitest'
import type { Client } from '../storage/records.ts'
import { mayApproveSilently } from './silent-approval.ts'

const HTTPS = 'https://app.example/cb'
const APP = 'com.example.app:/cb'

/** Client; requested scopes; scopes approved before, or null; prompt; redirect URI; result. */
const CASES: ReadonlyArray<
  readonly [
    'secret' | 'public' | 'own' | 'own public' | 'stranger' | 'verified',
    string[],
    string[] | null,
    string | null,
    string,
    boolean,
  ]
> = [
  ['secret', ['a'], null, null, HTTPS, false],
  ['secret', [], null, null, HTTPS, false],
  ['secret', ['a'], ['a'], null, HTTPS, true],
  ['secret', [], ['a'], null, HTTPS, true],
  ['secret', ['a'], ['a', 'b'], null, APP, true],
  ['secret', ['a', 'b'], ['a'], null, HTTPS, false],
  ['secret', ['a'], ['*'], null, HTTPS, false],
  ['secret', ['a'], ['a'], 'none', HTTPS, true],
  ['secret', ['a'], ['a'], 'consent', HTTPS, false],
  ['public', ['a'], ['a'], null, HTTPS, false],
  ['public', ['a'], ['a'], 'none', APP, false],
  ['own', ['a'], null, null, APP, true],
  ['own', ['a'], null, 'consent', HTTPS, false],
  ['own public', ['a'], null, null, HTTPS, true],
  ['own public', ['a'], null, null, APP, false],
  ['own public', ['a'], ['a'], null, 'http://127.0.0.1/cb', false],
  ['stranger', ['a'], ['a'], null, HTTPS, false],
  ['stranger', [], ['a'], 'none', HTTPS, false],
  ['verified', ['a'], ['a'], null, HTTPS, true],
]

describe('mayApproveSilently', () => {
  it.each(CASES)(
    'decides for a client (%s) that requests the scopes %j, with %j approved before, prompt=%s and the redirect URI %s: %s',
    (kind, scopes, had, ...rest) => {
      const [prompt, redirectTo, verdict] = rest
      const registration = { by: 'registration', verified: kind === 'verified' }
      const cameByItself = kind === 'stranger' || kind === 'verified'
      const client = {
        settings: cameByItself ? { self_registered: registration } : {},
        confidential: !kind.includes('public'),
        firstParty: kind.includes('own'),
      } as Client
      const consent = had && { userId: 'u', clientId: 'c', scopes: had, updatedAt: new Date(0) }
      const askAgain = prompt === 'consent'
      const optional = new Set<string>()
      const question = { client, redirectTo, scopes, consent, askAgain, optional }
      expect(mayApproveSilently({ ...question, elsewhere: false })).toBe(verdict)
      const isOwn = client.firstParty
      expect(mayApproveSilently({ ...question, elsewhere: true })).toBe(verdict && isOwn)
    },
  )

  it.each([
    [['a', 'b'], ['b'], ['b'], true],
    [['b'], ['b'], ['b'], true],
    [['a', 'b'], ['b'], [], false],
    [['a', 'b'], [], ['b'], false],
    [['a', 'b'], null, ['b'], false],
    [['a', 'b', 'c'], ['b'], ['b', 'c'], false],
  ])(
    'decides for the requested scopes %j, with the scope "a" approved before, %j declined before and %j optional: %s',
    (scopes, declined, optional, verdict) => {
      const question = {
        client: { settings: {}, confidential: true, firstParty: false } as unknown as Client,
        redirectTo: HTTPS,
        scopes,
        elsewhere: false,
        consent: { userId: 'u', clientId: 'c', scopes: ['a'], declined, updatedAt: new Date(0) },
        askAgain: false,
      }
      expect(mayApproveSilently({ ...question, optional: new Set(optional) })).toBe(verdict)
    },
  )
})
