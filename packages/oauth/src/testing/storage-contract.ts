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
 * What every store must do, to be run on your own with your own test runner. `create` gives an empty,
 * migrated store each time.
 * @example
 * storageContract({ describe, it }, async () => memoryStorage())
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
