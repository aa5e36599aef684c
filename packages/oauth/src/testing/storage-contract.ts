import { defineApprovalsContract } from './contract/approvals.ts'
import { defineClientsContract } from './contract/clients.ts'
import { defineFeedContract } from './contract/feed.ts'
import { defineLimitsContract } from './contract/limits.ts'
import type { ContractPart } from './contract/part.ts'
import { defineSessionsContract } from './contract/sessions.ts'
import { defineTicketsContract } from './contract/tickets.ts'
import { defineTokensContract } from './contract/tokens.ts'

export type { ContractPart, StorageContractRunner } from './contract/part.ts'

/**
 * Tests a storage of your own with your own test runner. `create` returns an empty, migrated
 * storage on each call.
 * @example
 * ```ts
 * storageContract({ describe, it }, async () => createMyStorage())
 * ```
 */
export const storageContract: ContractPart = (runner, create) => {
  defineClientsContract(runner, create)
  defineTokensContract(runner, create)
  defineApprovalsContract(runner, create)
  defineTicketsContract(runner, create)
  defineLimitsContract(runner, create)
  defineSessionsContract(runner, create)
  defineFeedContract(runner, create)
}
