import { batchingContract } from './contract/batching.ts'
import { claimsContract } from './contract/claims.ts'
import { locksContract } from './contract/locks.ts'
import type { ContractDatabase, DialectContractRunner } from './contract/part.ts'
import { schemaContract } from './contract/schema.ts'
import { transactionsContract } from './contract/transactions.ts'
import { valuesContract } from './contract/values.ts'
import { writesContract } from './contract/writes.ts'

export type { ContractDatabase, DialectContractRunner } from './contract/part.ts'

/**
 * Checks that a dialect meets the requirements of this package. Run it with your own test runner.
 * `create` returns a new empty database each time; the contract opens it, sometimes twice at the
 * same time, and closes its connections.
 * @example
 * ```ts
 * dialectContract({ describe, it }, async () => { const url = await createEmptyDatabase() return {
 * connect: (options) => connect(url, { ...options, dialects: [mine] }), remove: () =>
 * dropDatabase(url), } })
 * ```
 */
export function dialectContract(
  runner: DialectContractRunner,
  create: () => Promise<ContractDatabase>,
): void {
  schemaContract(runner, create)
  valuesContract(runner, create)
  writesContract(runner, create)
  claimsContract(runner, create)
  transactionsContract(runner, create)
  locksContract(runner, create)
  batchingContract(runner, create)
}
