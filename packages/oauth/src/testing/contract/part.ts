import type { Storage } from '../../storage/repositories.ts'

/** `describe` and `it` of a test runner. */
export interface StorageContractRunner {
  /** Groups tests, as in Vitest, Jest and node:test. */
  describe(name: string, body: () => void): void
  /** Defines a test. */
  it(name: string, body: () => Promise<void>): void
}

/** Defines the tests of one subject. `create` returns an empty, migrated storage on each call. */
export type ContractPart = (runner: StorageContractRunner, create: () => Promise<Storage>) => void
