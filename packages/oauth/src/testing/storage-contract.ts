import { approvalsContract } from './contract/approvals.ts'
import { clientsContract } from './contract/clients.ts'
import { feedContract } from './contract/feed.ts'
import { limitsContract } from './contract/limits.ts'
import type { ContractPart } from './contract/part.ts'
import { sessionsContract } from './contract/sessions.ts'
import { ticketsContract } from './contract/tickets.ts'
import { tokensContract } from './contract/tokens.ts'

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
  clientsContract(runner, create)
  tokensContract(runner, create)
  approvalsContract(runner, create)
  ticketsContract(runner, create)
  limitsContract(runner, create)
  sessionsContract(runner, create)
  feedContract(runner, create)
}
