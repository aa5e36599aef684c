import { describe, expect, it } from 'vitest'
import type { Client } from '../storage/records.ts'
import { mayApproveSilently } from './silent-approval.ts'

const HTTPS = 'https://app.example/cb'
const APP = 'com.example.app:/cb'

/** Client; requested scopes; scopes approved before, or null; prompt; redirect URI; result. */
const CASES: ReadonlyArray<
  readonly [string, string[], string[] | null, string | null, string, boolean]
> = [
  ['confidential', ['a'], null, null, HTTPS, false],
  ['confidential', [], null, null, HTTPS, false],
  ['confidential', ['a'], ['a'], null, HTTPS, true],
  ['confidential', [], ['a'], null, HTTPS, true],
  ['confidential', ['a'], ['a', 'b'], null, APP, true],
  ['confidential', ['a', 'b'], ['a'], null, HTTPS, false],
  ['confidential', ['a'], ['*'], null, HTTPS, false],
  ['confidential', ['a'], ['a'], 'none', HTTPS, true],
  ['confidential', ['a'], ['a'], 'consent', HTTPS, false],
  ['public', ['a'], ['a'], null, HTTPS, false],
  ['public', ['a'], ['a'], 'none', APP, false],
  ['first-party', ['a'], null, null, APP, true],
  ['first-party', ['a'], null, 'consent', HTTPS, false],
  ['first-party public', ['a'], null, null, HTTPS, true],
  ['first-party public', ['a'], null, null, APP, false],
  ['first-party public', ['a'], ['a'], null, 'http://127.0.0.1/cb', false],
  ['self-registered', ['a'], ['a'], null, HTTPS, false],
  ['self-registered', [], ['a'], 'none', HTTPS, false],
  ['verified self-registered', ['a'], ['a'], null, HTTPS, true],
]

describe('mayApproveSilently(), which decides whether the approval screen can be skipped,', () => {
  it.each(CASES)(
    'decides for a %s client, the requested scopes %j, the approved scopes %j, prompt=%s and the redirect URI %s: %s',
    (kind, scopes, had, ...rest) => {
      const [prompt, redirectTo, verdict] = rest
      const registration = { by: 'registration', verified: kind.includes('verified') }
      const cameByItself = kind.includes('self-registered')
      const client = {
        settings: cameByItself ? { self_registered: registration } : {},
        confidential: !kind.includes('public'),
        firstParty: kind.includes('first-party'),
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
    'decides for the requested scopes %j, the approved scope "a", the declined scopes %j and the optional scopes %j: %s',
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
