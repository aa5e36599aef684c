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
  ])('%s gets the step that each value of the setting secondFactor requires', (_, sign, steps) => {
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
  'a change of second factors by a session with a recent sign-in (%j), a second factor (%j) and the methods %j requires: %s',
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
  'under the policy %s, a request for the acr mfa (%j) and a fresh sign-in (%j), by a person with a second factor (%j) and the methods %j, requires: %s',
  (policy, wantsMfa, wantsFresh, hasFactor, methods, expected) => {
    const request = { policy, wantsMfa, wantsFresh, hasFactor, methods }
    expect(chooseRequiredSignInStep(request)).toBe(expected)
  },
)
