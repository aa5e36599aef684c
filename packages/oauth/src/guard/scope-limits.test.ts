import { afterEach, describe, expect, it, vi } from 'vitest'
import { InvalidToken, TemporarilyUnavailable } from '../errors.ts'
import { assertAnyScope, assertScopes, type Caller } from './guard.ts'
import {
  createScopeLimiters,
  findWithheldResponse,
  type ScopeLimiter,
  type ScopeLimits,
  type ScopeStatus,
  splitWithheldScopes,
} from './scope-limits.ts'

const ADA = { userId: 'ada', clientId: 'app' }

/** Limits that withhold these scopes. The refusal names its author and the scopes. */
const withholding = (author: string, ...scopes: string[]): ScopeLimits => ({
  allows: (scope) => !scopes.includes(scope),
  refusal: (named) => ({ status: 402, headers: {}, body: `${author}: ${named.join(' ')}` }),
})
const now = (limits: ScopeLimits | null): ScopeLimiter => ({ limitsOf: () => limits })
const later = (limits: ScopeLimits | null): ScopeLimiter => ({ limitsOf: async () => limits })

function start(...limiters: ScopeLimiter[]) {
  const logged: unknown[] = []
  const registry = createScopeLimiters({
    error: (message, error) => logged.push([message, error]),
    warn: () => {},
  })
  const removals = limiters.map((limiter) => registry.add(limiter))
  return { registry, removals, logged }
}

describe('the scope limiters of a server', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('return null, without a promise, if no limiter is registered', () => {
    const { registry } = start()
    expect(registry.isEmpty).toBe(true)
    expect(registry.find(ADA)).toBeNull()
  })

  it('return the limits of a single limiter unchanged, and return a promise only if the limiter does', async () => {
    const limits = withholding('plan', 'write')
    expect(start(now(limits)).registry.find(ADA)).toBe(limits)
    expect(start(now(null)).registry.find(ADA)).toBeNull()
    const delayed = start(later(limits)).registry.find(ADA)
    expect(delayed).toBeInstanceOf(Promise)
    expect(await delayed).toBe(limits)
  })

  it('pass the subject to the limiter, which may be an instance of a class', () => {
    class Plans implements ScopeLimiter {
      readonly limited = new Map([['ada', withholding('plan', 'write')]])
      limitsOf({ userId }: { readonly userId: string | null }) {
        return this.limited.get(userId ?? '') ?? null
      }
    }
    const { registry } = start(new Plans())
    expect(registry.find(ADA)).not.toBeNull()
    expect(registry.find({ userId: 'bob', clientId: 'app' })).toBeNull()
    expect(registry.find({ userId: null, clientId: 'ada' })).toBeNull()
  })

  const write = withholding('first', 'write', 'export')
  const read = withholding('second', 'read', 'export')
  it.each([
    ['both at once', [now(write), now(read)], true],
    ['the first later', [later(write), now(read)], false],
    ['the second later', [now(write), later(read)], false],
    ['both later', [later(write), later(read)], false],
    ['one without limits between them', [now(write), now(null), now(read)], true],
  ])(
    'allow only the scopes that every limiter allows, when the limiters answer: %s',
    async (_how, limiters, isSynchronous) => {
      const found = start(...limiters).registry.find(ADA)
      expect(found instanceof Promise).toBe(!isSynchronous)
      const limits = await found
      const allowed = ['read', 'write', 'export', 'admin'].filter((name) => limits?.allows(name))
      expect(allowed).toEqual(['admin'])
      expect(limits?.refusal(['write', 'export']).body).toBe('first: write export')
      expect(limits?.refusal(['read', 'write']).body).toBe('first: write')
      expect(limits?.refusal(['read']).body).toBe('second: read')
    },
  )

  it('can be removed independently of each other, even if the same limiter was added twice', () => {
    const limits = withholding('plan', 'write')
    const twice = now(limits)
    const { registry, removals } = start(twice, twice)
    removals[0]?.()
    removals[0]?.()
    expect(registry.find(ADA)).toBe(limits)
    removals[1]?.()
    expect(registry.find(ADA)).toBeNull()
    expect(registry.isEmpty).toBe(true)
  })

  it.each([undefined, null, {}, { limitsOf: 5 }, () => null])(
    'reject %j, which is not a limiter',
    (limiter) => {
      expect(() => start().registry.add(limiter as ScopeLimiter)).toThrow(TypeError)
    },
  )

  it.each([undefined, true, {}, { allows: () => true }, { refusal: () => null }])(
    'fail if a limiter returns %j instead of limits, because the caller would otherwise be unlimited',
    async (returned) => {
      const wrong = returned as unknown as ScopeLimits
      expect(() => start(now(wrong)).registry.find(ADA)).toThrow(TypeError)
      await expect(start(later(wrong)).registry.find(ADA)).rejects.toThrow(TypeError)
    },
  )

  const throwing = (error: unknown): ScopeLimiter => ({
    limitsOf() {
      throw error
    },
  })
  const rejecting = (error: unknown): ScopeLimiter => ({ limitsOf: () => Promise.reject(error) })
  it.each([
    ['throws', throwing],
    ['rejects', rejecting],
  ])(
    'fail with the same OAuth error, and log nothing, if a limiter %s with an OAuth error',
    async (_how, failing) => {
      const error = new InvalidToken('Not today')
      const { registry, logged } = start(now(null), failing(error), now(null))
      await expect((async () => registry.find(ADA))()).rejects.toBe(error)
      expect(logged).toEqual([])
    },
  )

  it.each([
    ['throws', throwing],
    ['rejects', rejecting],
  ])(
    'fail with TemporarilyUnavailable (503), and log the error, if a limiter %s with any other error',
    async (_how, failing) => {
      const error = new Error('connection refused by 10.0.0.5')
      const { registry, logged } = start(failing(error))
      const failure = await (async () => registry.find(ADA))().catch((thrown) => thrown)
      expect(failure).toBeInstanceOf(TemporarilyUnavailable)
      expect(failure.message).not.toContain('10.0.0.5')
      expect(logged).toEqual([[expect.any(String), error]])
    },
  )

  it('fail with TemporarilyUnavailable (503) if a limiter does not answer within two seconds', async () => {
    vi.useFakeTimers()
    const { registry, logged } = start({ limitsOf: () => new Promise(() => {}) })
    const failure = Promise.resolve(registry.find(ADA)).catch((thrown) => thrown)
    await vi.advanceTimersByTimeAsync(2000)
    expect(await failure).toBeInstanceOf(TemporarilyUnavailable)
    expect(logged).toHaveLength(1)
  })
})

describe('splitWithheldScopes()', () => {
  const known = {
    scopeNames: new Set(['read', 'write', 'openid', 'email']),
    identityScopes: new Set(['openid', 'email']),
  }
  it.each([
    ['nothing', ['read', 'write'], [], ['read', 'write'], []],
    ['a scope of the token', ['read', 'write'], ['write'], ['read'], ['write']],
    ['a scope that the token lacks', ['read'], ['write'], ['read'], []],
    ['every scope', ['read', 'write'], ['read', 'write'], [], ['read', 'write']],
    ['nothing of *', ['*'], ['other'], ['*'], []],
    ['a part of *', ['*'], ['write'], ['read'], ['write']],
    [
      'a part of * beside scopes',
      ['email', '*', 'gone'],
      ['write'],
      ['email', 'gone', 'read'],
      ['write'],
    ],
    [
      'scopes about the person',
      ['openid', 'email', 'read'],
      ['openid', 'email'],
      ['openid', 'email', 'read'],
      [],
    ],
    ['the name *', ['*'], ['*'], ['*'], []],
    ['a scope of an empty token', [], ['write'], [], []],
  ])(
    'separates the usable from the withheld scopes if the limits withhold %s',
    (_what, scopes, taken, effective, withheld) => {
      expect(splitWithheldScopes(scopes, withholding('plan', ...taken), known)).toEqual({
        effective,
        withheld,
      })
    },
  )

  it('returns all scopes as usable if there are no limits', () => {
    expect(splitWithheldScopes(['read', '*'], null, known)).toEqual({
      effective: ['read', '*'],
      withheld: [],
    })
  })
})

describe('the scope checks of the guard', () => {
  /** A caller with these scopes, some of which are withheld. */
  function caller(statuses: Readonly<Record<string, ScopeStatus>>): Caller {
    const scopeStatus = (name: string): ScopeStatus => statuses[name] ?? 'missing'
    return {
      clientId: 'c',
      tokenId: 't',
      scopes: [],
      claims: {},
      tokenCan: (name) => scopeStatus(name) === 'granted',
      scopeStatus,
      scopeRefusal: (scopes) => ({ status: 402, headers: {}, body: scopes.join(' ') }),
    }
  }
  function outcome(check: () => void): string {
    try {
      check()
      return 'passes'
    } catch (error) {
      const response = findWithheldResponse(error)
      return response ? `${response.status} ${response.body}` : String((error as InvalidToken).code)
    }
  }
  const G = 'granted'
  const W = 'withheld'
  const M = 'missing'
  it.each([
    [G, G, 'passes', 'passes'],
    [G, W, '402 b', 'passes'],
    [W, W, '402 a b', '402 a b'],
    [G, M, 'insufficient_scope', 'passes'],
    [W, M, 'insufficient_scope', '402 a'],
    [M, M, 'insufficient_scope', 'insufficient_scope'],
  ] as const)(
    'report a missing scope before a withheld one: for one scope that is %s and one that is %s, assertScopes() has the result "%s" and assertAnyScope() "%s"',
    (a, b, all, any) => {
      const names = ['a', 'b']
      expect(outcome(() => assertScopes(caller({ a, b }), names))).toBe(all)
      expect(outcome(() => assertAnyScope(caller({ a, b }), names))).toBe(any)
    },
  )

  it('throw InsufficientScope if a scope is withheld but the limits provide no response', () => {
    const silent = { ...caller({ a: W }), scopeRefusal: () => null }
    expect(outcome(() => assertScopes(silent, ['a']))).toBe('insufficient_scope')
    expect(outcome(() => assertAnyScope(silent, ['a']))).toBe('insufficient_scope')
  })

  it('pass if a limit ends while they run', () => {
    const ending = { ...caller({ a: G }), tokenCan: () => false }
    expect(outcome(() => assertScopes(ending, ['a']))).toBe('passes')
    expect(outcome(() => assertAnyScope(ending, ['a']))).toBe('passes')
  })
})

describe('findWithheldResponse()', () => {
  it('recognizes the error of another copy of this package', async () => {
    vi.resetModules()
    const other: typeof import('./scope-limits.ts') = await import('./scope-limits.ts')
    expect(other.findWithheldResponse).not.toBe(findWithheldResponse)
    const response = { status: 402, headers: {}, body: null }
    expect(findWithheldResponse(new other.ScopesWithheld(response))).toBe(response)
  })

  it.each([null, undefined, 'text', 5, new Error('other'), { status: 402 }])(
    'returns null for %s',
    (thrown) => {
      expect(findWithheldResponse(thrown)).toBeNull()
    },
  )
})
