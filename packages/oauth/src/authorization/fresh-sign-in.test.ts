import { describe, expect, it } from 'vitest'
import { checkSignInFreshness, type SignInDemand, type SignInFreshness } from './fresh-sign-in.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

describe('checkSignInFreshness()', () => {
  const nothing: SignInDemand = { again: false, maxAge: null, askedAt: null }
  const cases: ReadonlyArray<[string, Partial<SignInDemand>, Date | null, SignInFreshness]> = [
    ['no demand', {}, at(-9999), 'good'],
    ['no demand and no known sign-in time', {}, null, 'good'],

    ['prompt=login, signed in long ago', { again: true }, at(-9999), 'sign in'],
    ['prompt=login, signed in just now', { again: true }, NOW, 'sign in'],
    ['prompt=login, unknown sign-in time', { again: true }, null, 'cannot tell'],

    [
      'redirected to sign in, and signed in since',
      { again: true, askedAt: at(-60) },
      at(-30),
      'good',
    ],
    [
      'redirected, but signed in before that',
      { again: true, askedAt: at(-60) },
      at(-61),
      'came back without',
    ],
    [
      'redirected, and signed in at the same moment',
      { again: true, askedAt: NOW },
      NOW,
      'came back without',
    ],
    ['redirected, unknown sign-in time', { again: true, askedAt: at(-60) }, null, 'cannot tell'],
    [
      'redirected, signed in before, prompt removed from the URL',
      { askedAt: at(-60) },
      at(-61),
      'came back without',
    ],

    ['max_age, recent enough', { maxAge: 60 }, at(-60), 'good'],
    ['max_age, too old', { maxAge: 60 }, at(-61), 'sign in'],
    ['max_age, unknown sign-in time', { maxAge: 60 }, null, 'cannot tell'],
    [
      'max_age, redirected and signed in since',
      { maxAge: 60, askedAt: at(-600) },
      at(-300),
      'good',
    ],
    ['max_age=0', { maxAge: 0 }, at(-1), 'sign in'],
    ['max_age=0, redirected and signed in since', { maxAge: 0, askedAt: at(-9) }, at(-5), 'good'],
    ['prompt=login and max_age', { again: true, maxAge: 60 }, at(-1), 'sign in'],

    ['a sign-in 60 s in the future', { maxAge: 60 }, at(60), 'good'],
    ['a sign-in 61 s in the future', { maxAge: 60 }, at(61), 'cannot tell'],
    ['redirected, a sign-in far in the future', { askedAt: at(-60) }, at(3600), 'cannot tell'],
  ]
  const verdicts = cases.map(([name, demand, at, verdict]) => [name, verdict, demand, at] as const)
  it.each(verdicts)(
    'in the situation "%s" returns the verdict "%s"',
    (_name, verdict, demand, authenticatedAt) => {
      expect(checkSignInFreshness({ ...nothing, ...demand }, authenticatedAt, NOW)).toBe(verdict)
    },
  )
})
