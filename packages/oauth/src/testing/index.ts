export type { Duration } from '@tollgate/http'
export { type ActingHeaders, actingAs, actingAsClient } from './acting-as.ts'
export { type MovableClock, movableClock } from './movable-clock.ts'
export {
  type ContractPart,
  type StorageContractRunner,
  storageContract,
} from './storage-contract.ts'
