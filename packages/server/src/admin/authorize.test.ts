import { describe, expect, it } from 'vitest'
import { hasRole, outranks, ROLES } from '../users/roles.ts'
import type { Actor } from './audit/caller.ts'
import { authorize, isFreshSignIn } from './authorize.ts'
import { getOperationScope, IRREVERSIBLE_SCOPE } from './operation.ts'
import { OPERATIONS } from './operations/all.ts'
import { AdminProblem } from './problems.ts'

const NOW = new Date('2030-01-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

const operator = (role: (typeof ROLES)[number], signedInAt = NOW): Actor => ({
  kind: 'operator',
  id: '1',
  email: 'ada@example.com',
  role,
  signedInAt,
})
const client = (...scopes: string[]): Actor => ({ kind: 'client', id: 'desk', scopes })

/** The problem that the actor gets, or `allowed`. */
function verdict(operation: Parameters<typeof authorize>[0], actor: Actor): string {
  try {
    authorize(operation, actor, NOW)
    return 'allowed'
  } catch (error) {
    if (error instanceof AdminProblem) return error.problem
    throw error
  }
}

describe('authorize(), which decides whether an operator may perform an operation,', () => {
  const rule = (more: object = {}) =>
    ({ name: 'users.disable', role: 'support', effect: 'change', ...more }) as const

  it.each([
    ['a lower role', operator('viewer'), rule(), 'forbidden'],
    ['the role', operator('support'), rule(), 'allowed'],
    ['a higher role', operator('owner'), rule(), 'allowed'],
    ['an old sign-in', operator('owner', minutesAgo(600)), rule(), 'allowed'],
    [
      'an old sign-in, for what cannot be undone,',
      operator('owner', minutesAgo(11)),
      rule({ effect: 'irreversible' }),
      'fresh-sign-in-required',
    ],
    [
      'a sign-in of the last ten minutes, for what cannot be undone,',
      operator('owner', minutesAgo(10)),
      rule({ effect: 'irreversible' }),
      'allowed',
    ],
    [
      'a sign-in in the future, for what cannot be undone,',
      operator('owner', minutesAgo(-1)),
      rule({ effect: 'irreversible' }),
      'fresh-sign-in-required',
    ],
    [
      'an old sign-in, for what grants power,',
      operator('owner', minutesAgo(11)),
      rule({ grantsPower: true }),
      'fresh-sign-in-required',
    ],
    ['the scope', client('admin.users:write'), rule(), 'allowed'],
    ['only the scope for reading', client('admin.users:read'), rule(), 'forbidden'],
    ['the scope of another area', client('admin.clients:write'), rule(), 'forbidden'],
    ['the wildcard', client('*'), rule(), 'forbidden'],
    [
      'the scope, for what cannot be undone,',
      client('admin.users:write'),
      rule({ effect: 'irreversible' }),
      'forbidden',
    ],
    [
      'only the scope for what cannot be undone',
      client(IRREVERSIBLE_SCOPE),
      rule({ effect: 'irreversible' }),
      'forbidden',
    ],
    [
      'both scopes, for what cannot be undone,',
      client('admin.users:write', IRREVERSIBLE_SCOPE),
      rule({ effect: 'irreversible' }),
      'allowed',
    ],
    [
      'both scopes, for what grants power,',
      client('admin.users:write', IRREVERSIBLE_SCOPE),
      rule({ grantsPower: true }),
      'forbidden',
    ],
    [
      'the command line',
      { kind: 'command', id: 'ada' } as const,
      rule({ grantsPower: true }),
      'allowed',
    ],
  ])('returns the right decision for a caller with %s', (_, actor, operation, expected) => {
    expect(verdict(operation, actor)).toBe(expected)
  })

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'allows %s only to operators with the required role or a higher one, and to clients with the required scopes',
    (_, operation) => {
      const allowed = ROLES.filter((role) => verdict(operation, operator(role)) === 'allowed')
      expect(allowed).toEqual(ROLES.slice(ROLES.indexOf(operation.role)))
      const all = OPERATIONS.map(getOperationScope)
      const others = all.filter((scope) => scope !== getOperationScope(operation))
      expect(verdict(operation, client(...others, IRREVERSIBLE_SCOPE, '*'))).toBe('forbidden')
      const full = verdict(operation, client(...all, IRREVERSIBLE_SCOPE))
      expect(full).toBe(operation.grantsPower ? 'forbidden' : 'allowed')
    },
  )
})

describe('the operations of the management API', () => {
  it('have unique names and routes', () => {
    expect(new Set(OPERATIONS.map(({ name }) => name)).size).toBe(OPERATIONS.length)
    expect(new Set(OPERATIONS.map(({ route }) => route.join(' '))).size).toBe(OPERATIONS.length)
  })

  it('use GET if they only read, and other methods if they change something', () => {
    for (const { name, route, effect } of OPERATIONS) {
      expect([name, route[0] === 'GET']).toEqual([name, effect === 'read'])
    }
  })
})

describe('the roles of operators', () => {
  it('give no rights to a person without a role', () => {
    for (const role of ROLES) expect(hasRole(null, role)).toBe(false)
  })

  it.each([
    ['support', null, true],
    ['support', 'viewer', true],
    ['support', 'support', false],
    ['support', 'admin', false],
    ['admin', 'owner', false],
    ['owner', 'owner', true],
  ] as const)(
    'decide whether %s may change an account with the role %s: %s',
    (role, other, expected) => {
      expect(outranks(role, other)).toBe(expected)
    },
  )
})

describe('isFreshSignIn(), which decides whether a sign-in is recent,', () => {
  it.each([
    [0, true],
    [10, true],
    [10.1, false],
    [-0.1, false],
  ])('returns the right answer: a sign-in %d minutes ago gives %s', (minutes, expected) => {
    expect(isFreshSignIn(minutesAgo(minutes), NOW)).toBe(expected)
  })
})
