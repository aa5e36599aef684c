import type { Storage } from '../../storage/repositories.ts'

/** `describe` and `it` of whatever test runner you use. */
export interface StorageContractRunner {
  /** Groups tests, as vitest, jest and node:test do. */
  describe(name: string, body: () => void): void
  /** One test. */
  it(name: string, body: () => Promise<void>): void
}

/** Tests of one subject; `create` gives an empty, migrated store each time. */
export type ContractPart = (runner: StorageContractRunner, create: () => Promise<Storage>) => void
