import { describe, expect, it } from 'vitest'
import { judgeSignIn, type SignInDemand, type SignInVerdict } from './fresh-sign-in.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

describe('whether a sign-in is recent enough', () => {
  const nothing: SignInDemand = { again: false, maxAge: null, askedAt: null }
  const cases: ReadonlyArray<[string, Partial<SignInDemand>, Date | null, SignInVerdict]> = [
    ['nothing is asked', {}, at(-9999), 'good'],
    ['nothing is asked and nothing known', {}, null, 'good'],

    ['prompt=login, signed in long ago', { again: true }, at(-9999), 'sign in'],
    ['prompt=login, signed in this moment', { again: true }, NOW, 'sign in'],
    ['prompt=login, unknown', { again: true }, null, 'cannot tell'],

    ['sent to sign in, and did', { again: true, askedAt: at(-60) }, at(-30), 'good'],
    ['sent, and did before', { again: true, askedAt: at(-60) }, at(-61), 'came back without'],
    ['sent, and did at that moment', { again: true, askedAt: NOW }, NOW, 'came back without'],
    ['sent, and nobody can tell', { again: true, askedAt: at(-60) }, null, 'cannot tell'],
    ['sent, and prompt was taken off', { askedAt: at(-60) }, at(-61), 'came back without'],

    ['max_age, young enough', { maxAge: 60 }, at(-60), 'good'],
    ['max_age, too old', { maxAge: 60 }, at(-61), 'sign in'],
    ['max_age, unknown', { maxAge: 60 }, null, 'cannot tell'],
    ['max_age, sent and signed in', { maxAge: 60, askedAt: at(-600) }, at(-300), 'good'],
    ['max_age=0', { maxAge: 0 }, at(-1), 'sign in'],
    ['max_age=0, sent and signed in', { maxAge: 0, askedAt: at(-9) }, at(-5), 'good'],
    ['both', { again: true, maxAge: 60 }, at(-1), 'sign in'],

    ['a sign-in by a clock a little ahead', { maxAge: 60 }, at(60), 'good'],
    ['a sign-in in the future', { maxAge: 60 }, at(61), 'cannot tell'],
    ['sent, a sign-in in the future', { askedAt: at(-60) }, at(3600), 'cannot tell'],
  ]
  it.each(cases)('%s', (_name, demand, authenticatedAt, verdict) => {
    expect(judgeSignIn({ ...nothing, ...demand }, authenticatedAt, NOW)).toBe(verdict)
  })
})
