import { defineBatchingContract } from './contract/batching.ts'
import { defineRowClaimsContract } from './contract/claims.ts'
import { defineLocksContract } from './contract/locks.ts'
import type { ContractDatabase, DialectContractRunner } from './contract/part.ts'
import { defineSchemaContract } from './contract/schema.ts'
import { defineTransactionsContract } from './contract/transactions.ts'
import { defineValuesContract } from './contract/values.ts'
import { defineWritesContract } from './contract/writes.ts'

export type { ContractDatabase, DialectContractRunner } from './contract/part.ts'

/**
 * Checks that a dialect meets the requirements of this package. Run it with your own test runner.
 * `create` returns a new empty database each time; the contract opens it, sometimes twice at the
 * same time, and closes its connections.
 * @example
 * ```ts
 * dialectContract({ describe, it }, async () => {
 *   const url = await createEmptyDatabase()
 *   return {
 *     connect: (options) => connect(url, { ...options, dialects: [mine] }),
 *     remove: () => dropDatabase(url),
 *   }
 * })
 * ```
 */
export function dialectContract(
  runner: DialectContractRunner,
  create: () => Promise<ContractDatabase>,
): void {
  defineSchemaContract(runner, create)
  defineValuesContract(runner, create)
  defineWritesContract(runner, create)
  defineRowClaimsContract(runner, create)
  defineTransactionsContract(runner, create)
  defineLocksContract(runner, create)
  defineBatchingContract(runner, create)
}
