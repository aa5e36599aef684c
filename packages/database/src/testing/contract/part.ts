import type { ConnectOptions } from '../../connect.ts'
import type { Database } from '../../database.ts'

/** `describe` and `it` of any test runner. */
export interface DialectContractRunner {
  /** Groups tests. */
  describe(name: string, body: () => void): void
  /** Defines one test, which fails if its promise rejects. */
  it(name: string, body: () => Promise<void>): void
}

/** An empty database of the dialect under test. */
export interface ContractDatabase {
  /** Opens the database. Called several times, each time as another process would. */
  connect(options: ConnectOptions): Promise<Database>
  /** Deletes the database. Called after all connections are closed. */
  remove(): Promise<void>
}

/** Tests of one subject. `create` returns a new empty database each time. */
export type ContractPart = (
  runner: DialectContractRunner,
  create: () => Promise<ContractDatabase>,
) => void
