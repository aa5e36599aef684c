import { describe, expect, it } from 'vitest'
import type { Client, Token } from '../storage/records.ts'
import { client, token } from '../testing/contract-fixtures.ts'
import { decideRefresh, type Presented, type RefreshDecision } from './refresh-decision.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const SECOND = 1000
const HOUR = 3600 * SECOND
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds)
const ahead = (milliseconds: number) => ago(-milliseconds)

/** Refreshed five times, the last time just now. */
const ROW: Token = {
  ...token,
  generation: 5,
  issuedAt: NOW,
  refreshExpiresAt: ahead(1000 * HOUR),
  previousExpiresAt: ahead(900 * HOUR),
}
const publicClient: Client = { ...client, confidential: false, secretHash: null }

interface Situation {
  readonly presented?: number
  readonly row?: Partial<Token> | null
  readonly by?: Client
  readonly late?: Presented['late']
  readonly overtaken?: boolean
}

function decide(situation: Situation): RefreshDecision {
  const { presented = 4, row = {}, by = client, late, overtaken = false } = situation
  return decideRefresh({
    generation: presented,
    client: by,
    row: row && { ...ROW, ...row },
    now: NOW,
    late: late ?? { confidential: 24 * HOUR, public: HOUR },
    overtaken,
  })
}

/** The direct predecessor, so long after its use. */
const after = (milliseconds: number, row: Partial<Token> = {}): Situation => ({
  presented: 4,
  row: { ...row, issuedAt: ago(milliseconds) },
})

describe('what happens to a genuine refresh token', () => {
  const cases: ReadonlyArray<[string, Situation, RefreshDecision]> = [
    ['the present one', { presented: 5 }, 'rotate'],
    ['the present one after a year', { ...after(9000 * HOUR), presented: 5 }, 'rotate'],

    ['its predecessor at once', after(0), 'repeat'],
    ['its predecessor after 10 s', after(10 * SECOND), 'repeat'],
    ['its predecessor by a clock a little behind', after(-60 * SECOND), 'repeat'],
    ['its predecessor by a clock far behind', after(-61 * SECOND), 'end the family'],
    ['one before, at once', { presented: 3 }, 'end the family'],
    ['the very first, at once', { presented: 0 }, 'end the family'],

    ['its predecessor after 10.001 s', after(10 * SECOND + 1), 'repeat late'],
    ['its predecessor after 13 s', after(13 * SECOND), 'repeat late'],
    ['its predecessor after 24 h', after(24 * HOUR), 'repeat late'],
    ['its predecessor after more', after(24 * HOUR + 1), 'end the family'],
    ['of a public client after 1 h', { ...after(HOUR), by: publicClient }, 'repeat late'],
    ['of a public client after more', { ...after(HOUR + 1), by: publicClient }, 'end the family'],
    [
      'late where that is switched off',
      { ...after(11 * SECOND), late: { confidential: 0, public: 0 } },
      'end the family',
    ],
    ['late and over by its own expiry', after(HOUR, { previousExpiresAt: NOW }), 'end the family'],
    [
      'late, of unknown expiry (refreshed before we wrote it down)',
      after(HOUR, { previousExpiresAt: null }),
      'end the family',
    ],
    ['at once and over by its own expiry', after(SECOND, { previousExpiresAt: NOW }), 'repeat'],

    ['late again in the same generation', after(HOUR, { lateGeneration: 5 }), 'repeat late'],
    ['late two generations running', after(HOUR, { lateGeneration: 4 }), 'end the family'],
    ['late, and once before that', after(HOUR, { lateGeneration: 3 }), 'repeat late'],
    ['at once after a late one', after(SECOND, { lateGeneration: 4 }), 'repeat'],
    ['the present one after late ones', { presented: 5, row: { lateGeneration: 5 } }, 'rotate'],

    ['newer than its row', { presented: 6 }, 'move forward'],
    ['far newer than its row', { presented: 60 }, 'move forward'],
  ]
  it.each(cases)('%s', (_name, situation, decision) => {
    expect(decide(situation)).toBe(decision)
  })

  const details = { dpopKey: 'key', keepsRefreshToken: true } as const
  const kept = (issuedAt: Date) => ({ presented: 0, row: { details, issuedAt } })
  it.each<[string, Situation, RefreshDecision]>([
    ['at once', kept(NOW), 'renew'],
    ['after 13 s', kept(ago(13 * SECOND)), 'renew'],
    ['after a year', kept(ago(9000 * HOUR)), 'renew'],
    ['by a clock far behind', kept(ahead(HOUR)), 'renew'],
    ['when another request was faster', { ...kept(NOW), overtaken: true }, 'repeat'],
    ['when one was faster 10 s ago', { ...kept(ago(10 * SECOND)), overtaken: true }, 'repeat'],
    ['when one was faster long ago', { ...kept(ago(HOUR)), overtaken: true }, 'renew'],
    ['of a generation that was never given', { ...kept(NOW), presented: 5 }, 'refuse'],
  ])('one that is kept for its whole life, %s', (_name, situation, decision) => {
    expect(decide(situation)).toBe(decision)
  })

  it('ends the family no more where it is kept, and is refused when the grant is over (threat T6)', () => {
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
    ['it is of another client', { clientId: 'other' }],
    ["the client's secret was rotated", {}, { ...client, secretVersion: 2 }],
  ]
  it.each(over)('is refused, whatever its generation, when %s', (_name, row, by = client) => {
    for (const presented of [0, 3, 4, 5, 6]) {
      for (const age of [0, 13 * SECOND, 25 * HOUR]) {
        const found = row && { issuedAt: ago(age), ...row }
        expect(decide({ presented, row: found, by })).toBe('refuse')
      }
    }
  })
})
