import { describe, expect, it } from 'vitest'
import {
  chooseChangeDemand,
  chooseNextStep,
  chooseRequiredSignInStep,
  SECOND_FACTOR_POLICIES,
  type SecondFactorPolicy,
} from './policy.ts'

describe('after a first factor', () => {
  type Steps = Readonly<Record<SecondFactorPolicy, string>>
  const session = 'session'
  const never = { off: session, optional: session, operators: session, required: session }
  const asked = { ...never, optional: 'second-factor', operators: 'second-factor' }

  it.each<[string, Parameters<typeof chooseNextStep>[0], Steps]>([
    [
      'a person without a factor',
      { policy: 'off', role: null, hasFactor: false, methods: ['pwd'] },
      { ...never, required: 'enrolment' },
    ],
    [
      'an operator without a factor',
      { policy: 'off', role: 'viewer', hasFactor: false, methods: ['pwd'] },
      { ...never, operators: 'enrolment', required: 'enrolment' },
    ],
    [
      'a person with a factor',
      { policy: 'off', role: null, hasFactor: true, methods: ['fed'] },
      { ...asked, required: 'second-factor' },
    ],
    [
      'an operator with a factor',
      { policy: 'off', role: 'owner', hasFactor: true, methods: ['email'] },
      { ...asked, required: 'second-factor' },
    ],
    [
      'an operator with a passkey that verified them',
      { policy: 'off', role: 'owner', hasFactor: true, methods: ['pop', 'user', 'mfa'] },
      never,
    ],
  ])('%s gets the step of the policy', (_, sign, steps) => {
    const chosen = SECOND_FACTOR_POLICIES.map((policy) => [
      policy,
      chooseNextStep({ ...sign, policy }),
    ])
    expect(Object.fromEntries(chosen)).toEqual(steps)
  })
})

it.each([
  [true, false, ['pwd'], 'none'],
  [true, true, ['pwd'], 'second-factor'],
  [true, true, ['pwd', 'otp', 'mfa'], 'none'],
  [false, false, ['pwd'], 'sign-in'],
  [false, true, ['pwd', 'otp', 'mfa'], 'sign-in'],
] as const)(
  'a change of factors by a session that is fresh: %j, with a factor: %j and the methods %j needs: %s',
  (isFresh, hasFactor, methods, expected) => {
    expect(chooseChangeDemand({ isFresh, hasFactor, methods })).toBe(expected)
  },
)

it.each([
  ['optional', true, false, true, ['pwd'], 'second-factor'],
  ['optional', true, false, false, ['pwd'], 'enrolment'],
  ['optional', true, true, true, ['pwd'], 'complete'],
  ['optional', true, false, true, ['pwd', 'mfa'], 'complete'],
  ['optional', false, false, true, ['pwd'], 'complete'],
  ['off', true, false, true, ['pwd'], 'complete'],
] as const)(
  'under the policy %s, a request that wants mfa: %j and a fresh sign-in: %j, of a person with a factor: %j and the methods %j, asks for: %s',
  (policy, wantsMfa, wantsFresh, hasFactor, methods, expected) => {
    const request = { policy, wantsMfa, wantsFresh, hasFactor, methods }
    expect(chooseRequiredSignInStep(request)).toBe(expected)
  },
)
