import { describe, expect, it } from 'vitest'
// @ts-expect-error: a script without types
import { judge } from '../../packages/sandbox/scripts/braintree-specs/judge.mjs'
// @ts-expect-error: a script without types
import { NOT_PASSED, NOT_RUN } from '../../packages/sandbox/scripts/braintree-specs/reasons.mjs'

const LIST = [{ file: 'sales', titles: /with a wallet/, count: 2, why: 'no wallets' }]

const spec = (fullTitle: string) => ({ fullTitle, err: { message: 'Timeout\nat …' } })
const ran = (passes: string[], failures: string[]) =>
  judge('sales', { passes: passes.map(spec), failures: failures.map(spec) }, LIST)

describe("the comparison of the results of Braintree's specs with the list of known failures", () => {
  it('reports nothing when exactly the listed specs fail', () => {
    expect(ran(['sells'], ['sells with a wallet', 'refunds with a wallet'])).toEqual([])
  })

  it('reports a failure that is not listed', () => {
    expect(ran([], ['sells with a wallet', 'refunds with a wallet', 'voids'])).toEqual([
      'fails, and is not listed: voids (Timeout)',
    ])
  })

  it('reports a listed spec that passes, and an additional failure under the same reason', () => {
    expect(ran(['sells with a wallet'], ['refunds with a wallet'])).toEqual([
      '1 like /with a wallet/ fail, the list says 2\n    passes: sells with a wallet',
    ])
    expect(ran([], ['a with a wallet', 'b with a wallet', 'c with a wallet'])).toHaveLength(1)
  })

  it('requires one reason for each', () => {
    const twice = [...LIST, { file: 'sales', titles: /sells/, count: 1, why: 'no sales' }]
    const failures = [spec('sells with a wallet'), spec('refunds with a wallet')]
    expect(judge('sales', { passes: [], failures }, twice)).toEqual([
      'is listed under 2 reasons: sells with a wallet',
    ])
  })

  it('finds no listed file among those that are not run', () => {
    const files = (NOT_PASSED as Array<{ file: string }>).map(({ file }) => file)
    expect(files.filter((file) => Object.hasOwn(NOT_RUN, file))).toEqual([])
  })
})
