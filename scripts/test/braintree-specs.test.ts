import { describe, expect, it } from 'vitest'
// @ts-expect-error: a script without types
import { judge } from '../../packages/sandbox/scripts/braintree-specs/judge.mjs'
// @ts-expect-error: a script without types
import { NOT_PASSED, NOT_RUN } from '../../packages/sandbox/scripts/braintree-specs/reasons.mjs'

const LIST = [{ file: 'sales', titles: /with a wallet/, count: 2, why: 'no wallets' }]

const spec = (fullTitle: string) => ({ fullTitle, err: { message: 'Timeout\nat …' } })
const ran = (passes: string[], failures: string[]) =>
  judge('sales', { passes: passes.map(spec), failures: failures.map(spec) }, LIST)

describe('specs are judged by what is listed', () => {
  it('says nothing when what is listed fails, and nothing else', () => {
    expect(ran(['sells'], ['sells with a wallet', 'refunds with a wallet'])).toEqual([])
  })

  it('names a failure that nobody listed', () => {
    expect(ran([], ['sells with a wallet', 'refunds with a wallet', 'voids'])).toEqual([
      'fails, and is not listed: voids (Timeout)',
    ])
  })

  it('names a listed one that passes, and one more that hides behind a reason', () => {
    expect(ran(['sells with a wallet'], ['refunds with a wallet'])).toEqual([
      '1 like /with a wallet/ fail, the list says 2\n    passes: sells with a wallet',
    ])
    expect(ran([], ['a with a wallet', 'b with a wallet', 'c with a wallet'])).toHaveLength(1)
  })

  it('wants one reason for each', () => {
    const twice = [...LIST, { file: 'sales', titles: /sells/, count: 1, why: 'no sales' }]
    const failures = [spec('sells with a wallet'), spec('refunds with a wallet')]
    expect(judge('sales', { passes: [], failures }, twice)).toEqual([
      'is listed under 2 reasons: sells with a wallet',
    ])
  })

  it('lists nothing of a file that is not run', () => {
    const files = (NOT_PASSED as Array<{ file: string }>).map(({ file }) => file)
    expect(files.filter((file) => Object.hasOwn(NOT_RUN, file))).toEqual([])
  })
})
