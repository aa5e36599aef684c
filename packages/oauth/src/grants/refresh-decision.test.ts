import { describe, expect, it } from 'vitest'
import type { Client, Token } from '../storage/records.ts'
import { exampleClient, exampleToken } from '../testing/contract-fixtures.ts'
import {
  decideRefresh,
  type PresentedRefreshToken,
  type RefreshDecision,
} from './refresh-decision.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const SECOND = 1000
const HOUR = 3600 * SECOND
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds)
const ahead = (milliseconds: number) => ago(-milliseconds)

/** Refreshed five times, the last time just now. */
const ROW: Token = {
  ...exampleToken,
  generation: 5,
  issuedAt: NOW,
  refreshExpiresAt: ahead(1000 * HOUR),
  previousExpiresAt: ahead(900 * HOUR),
}
const publicClient: Client = { ...exampleClient, confidential: false, secretHash: null }

interface Situation {
  readonly presented?: number
  readonly row?: Partial<Token> | null
  readonly by?: Client
  readonly late?: PresentedRefreshToken['late']
  readonly overtaken?: boolean
}

function decide(situation: Situation): RefreshDecision {
  const { presented = 4, row = {}, by = exampleClient, late, overtaken = false } = situation
  return decideRefresh({
    generation: presented,
    client: by,
    row: row && { ...ROW, ...row },
    now: NOW,
    late: late ?? { confidential: 24 * HOUR, public: HOUR },
    overtaken,
  })
}

/** The direct predecessor of the current refresh token, presented this long after its use. */
const after = (milliseconds: number, row: Partial<Token> = {}): Situation => ({
  presented: 4,
  row: { ...row, issuedAt: ago(milliseconds) },
})

describe('decideRefresh(), for a refresh token with a valid signature,', () => {
  const cases: ReadonlyArray<[string, Situation, RefreshDecision]> = [
    ['the current token', { presented: 5 }, 'rotate'],
    ['the current token after a year', { ...after(9000 * HOUR), presented: 5 }, 'rotate'],

    ['the previous token at once', after(0), 'repeat'],
    ['the previous token after 10 s', after(10 * SECOND), 'repeat'],
    ['the previous token when the clock is 60 s behind', after(-60 * SECOND), 'repeat'],
    ['the previous token when the clock is 61 s behind', after(-61 * SECOND), 'end the family'],
    ['the token before the previous one, at once', { presented: 3 }, 'end the family'],
    ['the very first token, at once', { presented: 0 }, 'end the family'],

    ['the previous token after 10.001 s', after(10 * SECOND + 1), 'repeat late'],
    ['the previous token after 13 s', after(13 * SECOND), 'repeat late'],
    ['the previous token after 24 h', after(24 * HOUR), 'repeat late'],
    ['the previous token after more than 24 h', after(24 * HOUR + 1), 'end the family'],
    [
      'the previous token of a public client after 1 h',
      { ...after(HOUR), by: publicClient },
      'repeat late',
    ],
    [
      'the previous token of a public client after more than 1 h',
      { ...after(HOUR + 1), by: publicClient },
      'end the family',
    ],
    [
      'a late repeat when late repeats are disabled',
      { ...after(11 * SECOND), late: { confidential: 0, public: 0 } },
      'end the family',
    ],
    [
      'a late repeat after the token expired',
      after(HOUR, { previousExpiresAt: NOW }),
      'end the family',
    ],
    [
      'a late repeat of a token without a stored expiry',
      after(HOUR, { previousExpiresAt: null }),
      'end the family',
    ],
    [
      'a repeat at once after the token expired',
      after(SECOND, { previousExpiresAt: NOW }),
      'repeat',
    ],

    [
      'a second late repeat in the same generation',
      after(HOUR, { lateGeneration: 5 }),
      'repeat late',
    ],
    [
      'a late repeat right after one in the previous generation',
      after(HOUR, { lateGeneration: 4 }),
      'end the family',
    ],
    [
      'a late repeat two generations after another one',
      after(HOUR, { lateGeneration: 3 }),
      'repeat late',
    ],
    [
      'a repeat at once after a late repeat in the previous generation',
      after(SECOND, { lateGeneration: 4 }),
      'repeat',
    ],
    [
      'the current token after late repeats',
      { presented: 5, row: { lateGeneration: 5 } },
      'rotate',
    ],

    ['a token newer than its row', { presented: 6 }, 'move forward'],
    ['a token far newer than its row', { presented: 60 }, 'move forward'],
  ]
  const decisions = cases.map(([name, situation, decision]) => [name, decision, situation] as const)
  it.each(decisions)('returns for %s the decision "%s"', (_name, decision, situation) => {
    expect(decide(situation)).toBe(decision)
  })

  const details = { dpopKey: 'key', keepsRefreshToken: true } as const
  const kept = (issuedAt: Date) => ({ presented: 0, row: { details, issuedAt } })
  it.each<[string, Situation, RefreshDecision]>([
    ['presented at once', kept(NOW), 'renew'],
    ['presented after 13 s', kept(ago(13 * SECOND)), 'renew'],
    ['presented after a year', kept(ago(9000 * HOUR)), 'renew'],
    ['presented when the clock is far behind', kept(ahead(HOUR)), 'renew'],
    ['changed by a concurrent request', { ...kept(NOW), overtaken: true }, 'repeat'],
    [
      'changed by a concurrent request 10 s ago',
      { ...kept(ago(10 * SECOND)), overtaken: true },
      'repeat',
    ],
    ['changed by a concurrent request long ago', { ...kept(ago(HOUR)), overtaken: true }, 'renew'],
    ['of a generation that was never issued', { ...kept(NOW), presented: 5 }, 'refuse'],
  ])(
    'returns the right decision for a refresh token that is not rotated and was %s',
    (_name, situation, decision) => {
      expect(decide(situation)).toBe(decision)
    },
  )

  it('renews a refresh token that is not rotated at each use, and rejects it once the grant has ended (threat T6)', () => {
    expect(decide({ presented: 0 })).toBe('end the family')
    expect(decide({ presented: 0, row: { details } })).toBe('renew')
    expect(decide({ presented: 0, row: { details, revokedAt: ago(1) } })).toBe('refuse')
    expect(decide({ presented: 0, row: { details, refreshExpiresAt: NOW } })).toBe('refuse')
  })

  const over: ReadonlyArray<[string, Partial<Token> | null, Client?]> = [
    ['there is no row', null],
    ['it was revoked', { revokedAt: ago(1) }],
    ['it has expired', { refreshExpiresAt: NOW }],
    ['it never had a refresh token', { refreshExpiresAt: null }],
    ['it belongs to another client', { clientId: 'other' }],
    ["the client's secret was rotated", {}, { ...exampleClient, secretVersion: 2 }],
  ]
  it.each(over)(
    'rejects the refresh token, however often it was rotated, if %s',
    (_name, row, by = exampleClient) => {
      for (const presented of [0, 3, 4, 5, 6]) {
        for (const age of [0, 13 * SECOND, 25 * HOUR]) {
          const found = row && { issuedAt: ago(age), ...row }
          expect(decide({ presented, row: found, by })).toBe('refuse')
        }
      }
    },
  )
})
